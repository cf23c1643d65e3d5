// Who reads: with a keyboard alone, a screen reader, a small screen, without script; with hostile content; and with little rights.
import { api, assert, barriers, base, end, INVENTORY, sideways, signIn, signInWith, story, visitor } from "./browser.mjs";

const NODES = "/ui/o/-/inventory.miloapis.com/nodes";
const PAGES = ["/ui/", "/ui/sites", "/ui/sites/fra1", "/ui/sites/fra1?row=A", "/ui/racks/fra1-a01", NODES, `${NODES}/-/fra1-a01-node01`, `${NODES}/-/fra1-a01-node01?tab=yaml`, `${NODES}/-/fra1-a01-node01?tab=relations`, `${NODES}/-/fra1-a01-node01?tab=history`, "/ui/trace/fra1-a01-leaf1-up1", "/ui/impact/networkdevices/fra1-spine1", "/ui/map", "/ui/activity/-", "/ui/access?verb=get&resource=racks.inventory.miloapis.com", "/ui/search?q=fra1", "/ui/space?units=2", "/ui/sessions", "/ui/kinds/-"];

await story("no page keeps people out, in light and dark, and none scrolls sideways at 360 px", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await visitor({ colorScheme, viewport: colorScheme === "dark" ? { width: 360, height: 740 } : { width: 1280, height: 860 } });
    await page.goto(`${base}/ui/`);
    assert((await barriers(page)).length === 0, `sign-in: ${await barriers(page)}`);
    await signIn(page);
    const problems = [];
    for (const path of PAGES) {
      const answer = await page.goto(base + path);
      assert(answer.status() === 200, `${path}: ${answer.status()}`);
      problems.push(...(await barriers(page)).map((it) => `${colorScheme} ${path} ${it}`));
      if (colorScheme === "dark" && await sideways(page) > 0) problems.push(`${path} is ${await sideways(page)} px too wide at 360 px`);
    }
    assert(problems.length === 0, problems.join("\n"));
    await page.context().close();
  }
});

await story("the keyboard alone is enough", async () => {
  const page = await visitor();
  await signIn(page);
  await page.goto(`${base}/ui/racks/fra1-a02`);
  await page.keyboard.press("Tab");
  assert(await page.evaluate(() => document.activeElement.textContent) === "Skip to content", "the first stop skips the menu");
  await page.keyboard.press("Enter");
  assert(await page.evaluate(() => document.activeElement.id) === "main", "it leads to the content");
  const seen = new Set();
  for (let step = 0; step < 80; step += 1) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => document.activeElement.getAttribute("aria-label") || document.activeElement.textContent || document.activeElement.name));
  }
  assert([...seen].some((it) => it.startsWith("fra1-a02-node01")), `devices can be reached: ${[...seen].join("; ")}`);
  await page.getByLabel("Device").focus();
  await page.keyboard.type("fra1-a02-node06");
  await page.getByLabel("From unit").focus();
  await page.keyboard.type("20");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Plan: Move/ }).waitFor();
  await page.context().close();
});

await story("pages can be read without script", async () => {
  const page = await visitor({ javaScriptEnabled: false });
  await signIn(page);
  for (const path of PAGES) {
    await page.goto(base + path);
    assert((await page.getByRole("main").textContent()).length > 60, path);
  }
  await page.goto(`${base}${NODES}/-/fra1-a01-node01?tab=history`);
  assert((await page.locator("time.full").first().textContent()).includes("UTC"), "times are in UTC without script");
  await page.context().close();
});

await story("hostile content is text everywhere", async () => {
  const evil = "<script>window.hacked=1</script><img src=x onerror=\"window.hacked=1\">\u202Egnp.\u2066";
  const long = "x".repeat(100_000);
  await api("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "hostile", annotations: { "example.com/evil": evil } }, data: { evil, long, "=cmd": "=HYPERLINK(\"x\")" } }, { "x-may-fail": "1" });
  await api("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "hostile", annotations: { "example.com/evil": evil } }, data: { evil, long } }, { "x-may-fail": "1" });
  await api("PATCH", `${INVENTORY}/sites/fra1`, { spec: { displayName: evil } }, { "groundplane-change-message": encodeURIComponent(evil) });
  const page = await visitor();
  await signIn(page);
  for (const path of ["/ui/o/-/core/configmaps/default/hostile", "/ui/o/-/core/configmaps/default/hostile?tab=yaml", "/ui/o/-/core/configmaps/default/hostile?tab=history", "/ui/o/-/core/configmaps", "/ui/o/-/inventory.miloapis.com/sites/-/fra1?tab=history", "/ui/sites", "/ui/map", "/ui/activity/-", `/ui/search?q=${encodeURIComponent(evil)}`, `${NODES}?labels=${encodeURIComponent(evil)}`, `${NODES}/-/${encodeURIComponent(evil)}`, `/ui/racks/${encodeURIComponent(evil)}`, `/ui/sign-in?next=${encodeURIComponent("javascript:window.hacked=1")}`]) {
    await page.goto(base + path);
    assert(!await page.evaluate(() => window.hacked), `${path} ran what it should show`);
    assert(await page.locator("img[src=x]").count() === 0, `${path} has markup of somebody else`);
    assert(await sideways(page) === 0, `${path} is too wide`);
  }
  await page.goto(`${base}/ui/o/-/core/configmaps/default/hostile`);
  await page.getByText("<script>window.hacked=1</script>").first().waitFor();
  await page.context().close();
});

await story("a form needs the token of its session, and a cookie is no credential for the API", async () => {
  const page = await visitor();
  await signIn(page);
  const cookies = (await page.context().cookies()).filter((it) => it.name.includes("groundplane") && it.name.startsWith("__Host"));
  assert(cookies.length === 1 && cookies[0].httpOnly && cookies[0].secure && cookies[0].sameSite === "Lax", "the cookie is kept from scripts and other sites");
  const send = (path, init) => page.request.fetch(base + path, init);
  const refused = await send("/ui/o/-/inventory.miloapis.com/nodes/-/fra1-a01-node01", { method: "POST", form: { do: "delete", csrf: "guessed" } });
  assert(refused.status() === 403, `without the token: ${refused.status()}`);
  const elsewhere = await send("/ui/sign-out", { method: "POST", headers: { origin: "https://evil.example" }, form: { csrf: await page.locator("meta[name=csrf]").getAttribute("content") } });
  assert(elsewhere.status() === 403, `from another site: ${elsewhere.status()}`);
  const anonymous = await send(`${INVENTORY}/nodes`, { headers: { accept: "application/json" } });
  assert([401, 403].includes(anonymous.status()), `the API takes no cookie: ${anonymous.status()}`);
  const csp = (await send("/ui/", {})).headers()["content-security-policy"];
  assert(csp.includes("script-src 'self'") && !csp.includes("unsafe"), csp);
  await page.context().close();
});

await story("a viewer of one project sees nothing of another, not in counts either", async () => {
  const PROJECTS = "/apis/resourcemanager.miloapis.com/v1alpha1/projects";
  for (const [project, user] of [["alpha", "ann"], ["beta", "ben"]]) {
    await api("POST", PROJECTS, { apiVersion: "resourcemanager.miloapis.com/v1alpha1", kind: "Project", metadata: { name: project } });
    await api("POST", `${PROJECTS}/${project}/control-plane/apis/rbac.authorization.k8s.io/v1/clusterrolebindings`, { metadata: { name: user }, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" }, subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }] });
    await api("POST", `${PROJECTS}/${project}/control-plane/api/v1/namespaces/default/configmaps`, { metadata: { name: `treasure-of-${project}` }, data: { a: "b" } });
  }
  const page = await visitor();
  await signInWith(page, "ann-token");
  await page.goto(`${base}/ui/p/alpha`);
  await page.getByRole("heading", { level: 1, name: "alpha" }).waitFor();
  await page.goto(`${base}/ui/o/alpha/core/configmaps`);
  await page.getByRole("link", { name: "treasure-of-alpha" }).waitFor();
  const beta = ["p/beta", "o/beta/core/configmaps", "o/beta/core/configmaps?text=treasure", "o/beta/core/configmaps?format=csv", "o/beta/core/configmaps/default/treasure-of-beta", "o/beta/core/configmaps/default/treasure-of-beta?tab=history", "o/beta/core/configmaps/default/treasure-of-beta?tab=yaml", "o/beta/core/configmaps/new", "o/beta/core/configmaps/import", "o/beta/compute.datumapis.com/workloads", "kinds/beta", "activity/beta", "plans/beta/x", "access?plane=beta&verb=get&resource=configmaps", "search?plane=beta&q=treasure"];
  for (const path of beta) {
    const answer = await page.request.get(`${base}/ui/${path}`);
    assert(answer.status() === 404, `${path}: ${answer.status()}`);
    const none = (await page.request.get(`${base}/ui/${path.replaceAll("beta", "never")}`)).status();
    assert(none === 404, `${path}: it can be told from a project that does not exist`);
  }
  for (const path of ["", "search?q=treasure", "activity/-", "projects", "o/-/resourcemanager.miloapis.com/projects", "o/-/core/configmaps", "o/-/core/secrets", "o/-/inventory.miloapis.com/nodes", "racks/fra1-a01", "sites", "map"]) {
    const text = await (await page.request.get(`${base}/ui/${path}`)).text();
    assert(!text.includes("treasure-of-beta") && !/>beta</.test(text), `${path} tells of beta`);
    assert(!text.includes("fra1-a01-node01"), `${path} tells of the platform's inventory`);
  }
  await page.context().close();
});

await end();

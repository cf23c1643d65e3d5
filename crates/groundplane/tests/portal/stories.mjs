// What people do: each story on the demo fleet, found by role and name.
import { api, assert, base, end, INVENTORY, link, signIn, story, visitor } from "./browser.mjs";

const page = await visitor();
const NODES = "/ui/o/-/inventory.miloapis.com/nodes";

/** Waits until a request of the API says so. */
async function until(what, is) {
  for (let tries = 0; tries < 120; tries += 1) {
    if (await is()) return;
    await new Promise((done) => setTimeout(done, 500));
  }
  throw new Error(`it did not happen: ${what}`);
}

await story("a link signs in once, and sessions are listed and ended", async () => {
  const once = link();
  await signIn(page, once);
  const other = await visitor();
  await other.goto(once);
  await other.getByText("This link was used already").waitFor();
  await signIn(other);
  await page.goto(`${base}/ui/sessions`);
  const ends = page.getByRole("button", { name: "End session" });
  assert(await ends.count() === 2, "two sessions");
  await page.getByRole("row").filter({ hasNotText: "this one" }).getByRole("button", { name: "End session" }).click();
  await page.getByRole("row").nth(1).waitFor();
  assert(await ends.count() === 1, "one session is left");
  await other.goto(`${base}/ui/sites`);
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
  await other.context().close();
});

await story("the address of the server leads browsers to the portal", async () => {
  await page.goto(base);
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  const paths = await fetch(base, { headers: { authorization: "Bearer root-token", accept: "*/*" } }).then((it) => it.json());
  assert(paths.paths.includes("/apis"), "others get the list of paths");
});

await story("home says what needs attention, and changes by itself", async () => {
  await page.goto(`${base}/ui/`);
  await page.getByRole("heading", { name: "The fleet at a glance" }).waitFor();
  await page.getByRole("link", { name: "36 Nodes" }).waitFor();
  await api("POST", `${INVENTORY}/sites`, { apiVersion: "inventory.miloapis.com/v1alpha1", kind: "Site", metadata: { name: "lost-site", labels: { owner: "ann" } }, spec: { displayName: "Lost", type: "Datacenter", regionRef: { name: "nowhere" }, providerRef: { name: "equinix" } } });
  const row = page.getByRole("region", { name: "What needs attention" }).getByRole("row").filter({ hasText: "lost-site" });
  await row.waitFor();
  await row.getByText("RegionNotFound").waitFor();
  await row.getByText("ann").waitFor();
  await row.getByRole("link", { name: "Fix reference: lost-site" }).waitFor();
  await api("DELETE", `${INVENTORY}/sites/lost-site`);
  await page.getByText("Nothing needs attention").waitFor();
});

await story("a list has the server's columns, filters in the address, order, and changes by itself", async () => {
  await page.goto(base + NODES);
  await page.getByRole("columnheader", { name: "Cluster" }).waitFor();
  await page.getByLabel("Fields").fill("spec.siteRef.name=fra1");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("18 objects").waitFor();
  assert(new URL(page.url()).searchParams.get("fields") === "spec.siteRef.name=fra1", "the filter is in the address");
  await page.getByRole("link", { name: "CPU" }).click();
  await page.getByRole("columnheader", { name: "CPU" }).and(page.locator("[aria-sort=ascending]")).waitFor();
  await page.goto(`${base}${NODES}?labels=story%3Dlive`);
  await page.getByText("No nodes here that match the filter").waitFor();
  await api("PATCH", `${INVENTORY}/nodes/fra1-a01-node01`, { metadata: { labels: { story: "live" } } });
  await page.getByRole("link", { name: "fra1-a01-node01" }).waitFor();
  await page.goto(`${base}${NODES}?text=fra1-a02-node03`);
  await page.getByRole("link", { name: "fra1-a02-node03" }).waitFor();
});

await story("an object shows what it is, its YAML, its relations and its history", async () => {
  await page.goto(`${base}${NODES}/-/fra1-a01-node02`);
  await page.getByRole("heading", { name: "Conditions" }).waitFor();
  await page.getByRole("link", { name: "Relations" }).click();
  await page.getByRole("heading", { name: /Referred to by/ }).waitFor();
  await page.getByRole("link", { name: "fra1-a01-node02-eth0" }).first().waitFor();
  await page.getByRole("link", { name: "YAML" }).click();
  await page.getByRole("textbox", { name: "YAML" }).waitFor();
});

await story("the editor is checked by the server, saves through a plan, and history leads back", async () => {
  await page.goto(`${base}${NODES}/-/fra1-a01-node02?tab=yaml`);
  const editor = page.getByRole("textbox", { name: "YAML" });
  const yaml = await editor.inputValue();
  await editor.fill(yaml.replace("drawnWatts: 688", "drawnWatts: lots"));
  await page.getByText(/spec.drawnWatts/).first().waitFor();
  await editor.fill(yaml.replace("drawnWatts: 688", "drawnWatts: 700"));
  await page.getByText("Valid.", { exact: true }).waitFor();
  await page.getByLabel("Why").fill("measured again");
  await page.getByRole("button", { name: "Review change" }).click();
  await page.getByRole("heading", { name: "Plan: measured again" }).waitFor();
  await page.getByRole("cell", { name: "700" }).waitFor();
  assert((await api("GET", `${INVENTORY}/nodes/fra1-a01-node02`)).spec.drawnWatts === 688, "nothing is written before it is confirmed");
  await page.getByRole("button", { name: "Apply plan" }).click();
  await page.getByText("Applied by").waitFor();
  await page.getByRole("link", { name: "fra1-a01-node02" }).click();
  await page.getByRole("link", { name: "History" }).click();
  await page.getByText("measured again").waitFor();
  await page.getByRole("button", { name: "Return to this state" }).first().click();
  await page.getByRole("button", { name: "Apply plan" }).click();
  await page.getByText("Applied by").waitFor();
  assert((await api("GET", `${INVENTORY}/nodes/fra1-a01-node02`)).spec.drawnWatts === 688, "it is as before");
});

await story("what was deleted is restored", async () => {
  await api("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "gone" }, data: { a: "b" } });
  await page.goto(`${base}/ui/o/-/core/configmaps/default/gone`);
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Apply plan" }).click();
  await page.getByText("Applied by").waitFor();
  await page.goto(`${base}/ui/o/-/core/configmaps/default/gone`);
  await page.getByText("It was deleted").waitFor();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: "Apply plan" }).click();
  await page.getByText("Applied by").waitFor();
  assert((await api("GET", "/api/v1/namespaces/default/configmaps/gone")).data.a === "b", "it is back");
});

await story("from the site over the row to the rack, front and rear", async () => {
  await page.goto(`${base}/ui/sites`);
  await page.getByRole("main").getByRole("link", { name: /fra1/ }).first().click();
  await page.getByRole("heading", { name: /Row A/ }).waitFor();
  await page.getByRole("link", { name: "elevations of the row" }).click();
  await page.getByRole("group", { name: "Rear of rack fra1-a02" }).waitFor();
  await page.getByRole("heading", { name: "fra1-a01" }).getByRole("link").click();
  await page.getByRole("group", { name: "Front of rack fra1-a01" }).waitFor();
  await page.getByRole("img", { name: /Feed A/ }).waitFor();
  for (const colour of ["state", "tenant", "drift"]) await page.getByRole("link", { name: `By ${colour}` }).click();
});

await story("dragging a device makes a plan, which moves it on confirmation", async () => {
  await page.goto(`${base}/ui/racks/fra1-a01`);
  const device = page.getByRole("group", { name: "Front of rack fra1-a01" }).getByRole("link", { name: /^fra1-a01-node06/ });
  await device.scrollIntoViewIfNeeded();
  const box = await device.boundingBox();
  await page.mouse.move(box.x + 60, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y - 60, { steps: 6 });
  await page.mouse.move(box.x + 60, box.y - 120, { steps: 6 });
  await page.mouse.up();
  await page.getByRole("heading", { name: /Plan: Move fra1-a01-node06 to fra1-a01/ }).waitFor();
  assert((await api("GET", `${INVENTORY}/nodes/fra1-a01-node06`)).spec.placement.startUnit === 11, "a plan moves nothing");
  await page.goto(`${base}/ui/racks/fra1-a01`);
  await page.getByRole("heading", { name: "Planned" }).waitFor();
  await page.locator("section").filter({ hasText: "Planned" }).getByRole("link", { name: "fra1-a01-node06" }).last().click();
  await page.getByRole("button", { name: "Apply plan" }).click();
  await page.getByText("Applied by").waitFor();
  assert((await api("GET", `${INVENTORY}/nodes/fra1-a01-node06`)).spec.placement.startUnit > 11, "it has moved");
});

await story("a move that a rule forbids is refused with its reason", async () => {
  await page.goto(`${base}/ui/racks/fra1-a01`);
  await page.getByLabel("Device").selectOption("Node/fra1-a01-node01");
  await page.getByLabel("From unit").fill("3");
  await page.getByRole("button", { name: "Plan move" }).click();
  await page.getByText(/overlaps Node fra1-a01-node02/).waitFor();
  assert(await page.getByRole("button", { name: "Apply plan" }).count() === 0, "it can't be applied");
});

await story("a path is drawn end to end, and a failure is asked about", async () => {
  await page.goto(`${base}/ui/trace/fra1-a01-leaf1-up1`);
  await page.getByText("16 m").waitFor();
  await page.getByRole("group", { name: "Path of the port" }).getByRole("link", { name: /fra1-spine1/ }).waitFor();
  await page.goto(`${base}/ui/o/-/inventory.miloapis.com/networkdevices/-/fra1-spine1`);
  await page.getByRole("link", { name: "What if this fails" }).click();
  await page.getByRole("heading", { name: /Lose network redundancy/ }).waitFor();
  await page.getByRole("group", { name: "Front of rack fra1-a01" }).waitFor();
});

await story("every page shows the past", async () => {
  const before = (await api("GET", `${INVENTORY}/nodes/fra1-a03-node01`)).metadata.resourceVersion;
  await api("PATCH", `${INVENTORY}/nodes/fra1-a03-node01`, { spec: { drawnWatts: 123 } });
  await page.goto(`${base}${NODES}/-/fra1-a03-node01?asOf=${before}`);
  await page.getByText("As of").first().waitFor();
  const part = (name) => page.locator("section").filter({ has: page.getByRole("heading", { name, exact: true }) });
  assert(!(await part("Spec").textContent()).includes("123"), "the past is as it was");
  assert((await part("Since then").textContent()).includes("123"), "what has changed since is marked");
  assert(await page.getByRole("button", { name: "Edit" }).isDisabled(), "the past can't be edited");
  await page.getByRole("link", { name: "Back to now" }).click();
  await page.getByRole("main").getByText("123", { exact: true }).waitFor();
});

await story("many objects get a label through one plan", async () => {
  await page.goto(`${base}${NODES}?fields=spec.siteRef.name%3Dams1`);
  await page.getByLabel("Select all on this page").check();
  await page.getByLabel("Set label").fill("team=blue");
  await page.getByRole("button", { name: "Plan change" }).click();
  await page.getByText("18 changed").waitFor();
  await page.getByRole("button", { name: "Apply plan" }).click();
  await page.getByText("Applied by").waitFor();
  assert((await api("GET", `${INVENTORY}/nodes?labelSelector=team%3Dblue`)).items.length === 18, "all have it");
});

await story("CSV goes out and comes in with a preview", async () => {
  const racks = "/ui/o/-/inventory.miloapis.com/racks";
  await page.goto(base + racks);
  await page.getByText("Export").click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "CSV", exact: true }).click()]);
  const { readFileSync } = await import("node:fs");
  const csv = readFileSync(await file.path(), "utf8");
  assert(csv.split("\r\n").length === 10 && csv.includes("fra1-a01"), "eight racks and a header");
  await page.goto(`${base}${racks}/import`);
  await page.getByLabel("CSV").fill("name,spec.siteRef.name,spec.row,spec.heightU\nfra1-b01,fra1,B,48\nfra1-a01,fra1,A,44\n");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("1 object created · 1 changed").waitFor();
  await page.goto(`${base}${racks}/import`);
  await page.getByLabel("CSV").fill("name,spec.heightU\nx,tall\n");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("line 2, column spec.heightU").waitFor();
});

await story("search and the palette work from the keyboard", async () => {
  await page.goto(`${base}/ui/`);
  await page.keyboard.press("/");
  await page.keyboard.type("fra1-a02-node05");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "fra1-a02-node05", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Command" }).fill("inventory racks");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Racks" }).waitFor();
});

await story("sites are on the map, space is found, activity is told, access is explained", async () => {
  await page.goto(`${base}/ui/map`);
  await page.getByRole("link", { name: /^fra1/ }).waitFor();
  await page.goto(`${base}/ui/space?units=2&watts=500&count=3`);
  await page.getByRole("region", { name: "Places" }).waitFor();
  await page.goto(`${base}/ui/activity/-?since=now-1h&source=human`);
  await page.getByText(/measured again|updated Node/).first().waitFor();
  await page.goto(`${base}/ui/access?verb=delete&resource=racks.inventory.miloapis.com&user=ann`);
  await page.getByText("No.", { exact: true }).waitFor();
});

await story("users' own kinds have pages too", async () => {
  await api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: "lamps.example.com" },
    spec: { group: "example.com", scope: "Cluster", names: { kind: "Lamp", plural: "lamps", singular: "lamp" }, versions: [{ name: "v1", served: true, storage: true, additionalPrinterColumns: [{ name: "Colour", type: "string", jsonPath: ".spec.colour" }], schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { colour: { type: "string" } } } } } } }] },
  });
  await until("the kind is served", async () => (await api("POST", "/apis/example.com/v1/lamps", { apiVersion: "example.com/v1", kind: "Lamp", metadata: { name: "green" }, spec: { colour: "green" } }, { "x-may-fail": "1" })).kind === "Lamp");
  await page.goto(`${base}/ui/o/-/example.com/lamps`);
  await page.getByRole("columnheader", { name: "Colour" }).waitFor();
  await page.getByRole("link", { name: "green", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "green" }).waitFor();
});

if (process.env.GROUNDPLANE_PICTURES) {
  const shots = { home: "/ui/", site: "/ui/sites/fra1?row=A&cage=C-01", rack: "/ui/racks/fra1-a01", trace: "/ui/trace/fra1-a01-leaf1-up1", impact: "/ui/impact/networkdevices/fra1-spine1", list: NODES, history: `${NODES}/-/fra1-a01-node02?tab=history`, editor: `${NODES}/-/fra1-a01-node02?tab=yaml` };
  const spec = (region) => ({ displayName: "Oslo OSL1", type: "Datacenter", regionRef: { name: region }, providerRef: { name: "equinix" } });
  await api("POST", `${INVENTORY}/sites`, { apiVersion: "inventory.miloapis.com/v1alpha1", kind: "Site", metadata: { name: "osl1", labels: { owner: "ann" } }, spec: spec("eu-north") });
  await page.goto(`${base}/ui/`);
  await page.getByText("RegionNotFound").waitFor();
  for (const [name, path] of Object.entries(shots)) {
    await page.goto(base + path);
    await page.screenshot({ path: `${process.env.GROUNDPLANE_PICTURES}/${name}.png` });
  }
}
await end();

// What the stories share: a browser, the API, and a story that can fail.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const { chromium } = await import(process.env.PLAYWRIGHT);
export const patience = Number(process.env.PATIENCE || 60_000);
export const INVENTORY = "/apis/inventory.miloapis.com/v1alpha1";

/** A one-time link, as `groundplane portal` prints it. */
export const link = () => JSON.parse(execFileSync(process.env.GROUNDPLANE, ["portal", "-o", "json"])).link;
const first = link();
export const base = new URL(first).origin;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/** A browser of its own, whose errors fail the test. */
export async function visitor(options = {}) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 860 }, ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.on("dialog", () => { throw new Error("a page opened a dialog"); });
  page.on("pageerror", (error) => { console.error("error on", page.url(), error); process.exitCode = 1; });
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) { console.error("console:", page.url(), message.text()); process.exitCode = 1; }
  });
  return page;
}

/** Signs in with a link. */
export async function signIn(page, at = link()) {
  await page.goto(at);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
}

/** Signs in with a token. */
export async function signInWith(page, token) {
  await page.goto(`${base}/ui/`);
  await page.getByText("Sign in with a token").click();
  await page.getByLabel("Bearer token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
}

/** Asks the API as the administrator. */
export async function api(method, path, body, headers = {}) {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const answer = await fetch(base + path, {
    method, body: body && JSON.stringify(body),
    headers: { authorization: "Bearer root-token", "content-type": type, ...headers },
  });
  const text = await answer.text();
  if (!answer.ok && !headers["x-may-fail"]) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  try { return JSON.parse(text); } catch { return text; }
}

export function assert(is, why) { if (!is) throw new Error(why); }

/** Whether the page is wider than the window. */
export const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** What axe finds that keeps people out. */
export async function barriers(page) {
  await page.evaluate(readFileSync(process.env.AXE, "utf8"));
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.filter((it) => ["serious", "critical"].includes(it.impact))
    .map((it) => `${it.id}: ${it.help}: ${it.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + " " + (node.any[0]?.message || "")).join(" | ")}`);
}

let failed = 0;
/** Tells a story; a failed one does not keep the others from being told. */
export async function story(name, tell) {
  const begun = Date.now();
  try { await tell(); console.log(`ok ${name} (${Date.now() - begun} ms)`); } catch (error) { failed += 1; console.error(`FAILED ${name}: ${error.stack}`); }
}

export async function end() {
  await browser.close();
  process.exit(failed || process.exitCode ? 1 : 0);
}

// The JavaScript client through the everyday verbs. Each function is a story; the first that fails ends the run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [library, widgetsFile, gaugesFile] = process.argv.slice(2);
const k8s = await import(pathToFileURL(library));

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const as = (strategy) => k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy[strategy]);

/** The call is refused with this code and reason; the status is given. */
async function refused(code, reason, call) {
  try {
    await call();
  } catch (error) {
    const status = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
    assert.deepEqual([error.code, status?.reason], [code, reason], String(error));
    return status;
  }
  assert.fail(`not refused: ${call}`);
}

async function until(what, condition) {
  for (const end = Date.now() + 20_000; !(await condition());) {
    assert.ok(Date.now() < end, `still waiting until ${what}`);
    await sleep(20);
  }
}

async function coreKinds() {
  const namespace = 'shop';
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  const menu = { metadata: { name: 'menu', labels: { day: 'monday' } }, data: { soup: 'leek' } };
  const made = await core.createNamespacedConfigMap({ namespace, body: menu });
  assert.ok(made.metadata.uid && made.metadata.creationTimestamp instanceof Date);
  await refused(409, 'AlreadyExists', () => core.createNamespacedConfigMap({ namespace, body: menu }));
  made.data.main = 'pie';
  const name = 'menu';
  const replaced = await core.replaceNamespacedConfigMap({ name, namespace, body: made });
  assert.deepEqual(replaced.data, { soup: 'leek', main: 'pie' });
  await refused(409, 'Conflict', () => core.replaceNamespacedConfigMap({ name, namespace, body: made }));
  const patch = (body, strategy) => core.patchNamespacedConfigMap({ name, namespace, body }, as(strategy));
  assert.deepEqual((await patch({ data: { soup: null } }, 'MergePatch')).data, { main: 'pie' });
  assert.deepEqual((await patch({ data: { a: 'b' } }, 'StrategicMergePatch')).data, { main: 'pie', a: 'b' });
  const operations = [{ op: 'remove', path: '/data/a' }, { op: 'add', path: '/data/sweet', value: 'plum' }];
  assert.deepEqual((await patch(operations, 'JsonPatch')).data, { main: 'pie', sweet: 'plum' });
  const found = await core.listNamespacedConfigMap({
    namespace, labelSelector: 'day=monday', fieldSelector: 'metadata.name=menu', limit: 5,
  });
  assert.deepEqual(found.items.map((item) => item.metadata.name), ['menu']);
  const dry = { namespace, dryRun: 'All', body: { metadata: { name: 'dry' } } };
  assert.ok((await core.createNamespacedConfigMap(dry)).metadata.uid);
  await refused(404, 'NotFound', () => core.readNamespacedConfigMap({ name: 'dry', namespace }));
  const invalid = { namespace, body: { metadata: { name: 'Not_A_Name' } } };
  const status = await refused(422, 'Invalid', () => core.createNamespacedConfigMap(invalid));
  assert.equal(status.details.causes[0].field, 'metadata.name');

  const secret = { metadata: { generateName: 'till-' }, stringData: { pin: '1234' } };
  const till = await core.createNamespacedSecret({ namespace, body: secret });
  assert.equal(Buffer.from(till.data.pin, 'base64').toString(), '1234');
  await core.deleteNamespacedConfigMap({ name, namespace, propagationPolicy: 'Foreground' });
  await until('it is gone', () => core.readNamespacedConfigMap({ name, namespace }).then(() => false, ({ code }) => code === 404));
  for (const each of ['a', 'b', 'c']) {
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: each, labels: { many: 'yes' } } } });
  }
  let pages = 0;
  for (let _continue; pages === 0 || _continue; pages += 1) {
    const page = await core.listNamespacedConfigMap({ namespace, limit: 2, _continue });
    _continue = page.metadata._continue;
  }
  assert.equal(pages, 2);
  await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'many=yes' });
  const own = 'metadata.name!=kube-root-ca.crt';
  assert.deepEqual((await core.listNamespacedConfigMap({ namespace, fieldSelector: own })).items, []);
  await core.deleteNamespace({ name: namespace });
  await until('the namespace is gone', async () =>
    !(await core.listNamespace()).items.some((item) => item.metadata.name === namespace));
}

async function rights() {
  const reviews = config.makeApiClient(k8s.AuthorizationV1Api);
  const asked = { spec: { resourceAttributes: { verb: 'list', resource: 'secrets', namespace: 'default' } } };
  assert.equal((await reviews.createSelfSubjectAccessReview({ body: asked })).status.allowed, true);
  const account = { namespace: 'default', body: { metadata: { name: 'robot' } } };
  await core.createNamespacedServiceAccount(account);
  const token = await core.createNamespacedServiceAccountToken({
    name: 'robot', namespace: 'default', body: { spec: { audiences: [], expirationSeconds: 3600 } },
  });
  const robot = new k8s.KubeConfig();
  const { caData, server } = config.getCurrentCluster();
  robot.loadFromClusterAndUser({ name: 'here', server, caData }, { name: 'robot', token: token.status.token });
  await refused(403, 'Forbidden', () => robot.makeApiClient(k8s.CoreV1Api).listNamespacedSecret({ namespace: 'default' }));
}

async function define(file) {
  const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
  const body = k8s.loadYaml(readFileSync(file, 'utf8'));
  await definitions.createCustomResourceDefinition({ body });
  await until('the kind is served', async () => {
    const { status } = await definitions.readCustomResourceDefinition({ name: body.metadata.name });
    return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  });
}

async function customObjects() {
  await define(widgetsFile);
  const custom = config.makeApiClient(k8s.CustomObjectsApi);
  const at = { group: 'golden.example.com', version: 'v1', namespace: 'default', plural: 'widgets' };
  const widget = { apiVersion: 'golden.example.com/v1', kind: 'Widget', metadata: { name: 'one' }, spec: { size: 3, replicas: 1 } };
  const made = await custom.createNamespacedCustomObject({ ...at, body: widget });
  assert.equal(made.spec.color, 'red', 'defaults are filled in');
  const one = { ...at, name: 'one' };
  const changed = await custom.patchNamespacedCustomObject({ ...one, body: { spec: { size: 4 } } }, as('MergePatch'));
  assert.equal(changed.metadata.generation, 2);
  const ready = { status: { phase: 'Ready' } };
  const status = await custom.patchNamespacedCustomObjectStatus({ ...one, body: ready }, as('MergePatch'));
  assert.deepEqual([status.status.phase, status.metadata.generation], ['Ready', 2]);
  const scale = await custom.getNamespacedCustomObjectScale(one);
  scale.spec.replicas = 5;
  await custom.replaceNamespacedCustomObjectScale({ ...one, body: scale });
  assert.equal((await custom.getNamespacedCustomObject(one)).spec.replicas, 5);
  const bad = { ...widget, metadata: { name: 'bad' }, spec: { size: 1000, color: 'pink' } };
  const said = await refused(422, 'Invalid', () => custom.createNamespacedCustomObject({ ...at, body: bad }));
  assert.deepEqual(said.details.causes.map(({ field }) => field).sort(), ['spec.color', 'spec.size']);
  await custom.deleteNamespacedCustomObject(one);
}

async function rules() {
  await define(gaugesFile);
  const gauge = (low, count) => ({
    apiVersion: 'rules.example.com/v1', kind: 'Gauge', metadata: { name: 'one', namespace: 'default' }, spec: { low, high: 10, count },
  });
  const said = await refused(422, 'Invalid', () => objects.create(gauge(11, 0)));
  assert.match(said.message, /low is 11, above high/);
  await objects.create(gauge(1, 5));
  const merge = (body) => objects.patch(body, undefined, undefined, undefined, undefined, k8s.PatchStrategy.MergePatch);
  const both = await refused(422, 'Invalid', () => merge(gauge(12, 1)));
  assert.equal(both.details.causes.length, 2, 'both are told at once');
  assert.equal((await merge(gauge(2, 6))).spec.count, 6);
}

/** Objects whose kind is only known by name. */
async function anyObjects() {
  const map = (soup) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'any', namespace: 'default' }, data: { soup } });
  await objects.create(map('leek'));
  const apply = (soup, by, force) =>
    objects.patch(map(soup), undefined, undefined, by, force, k8s.PatchStrategy.ServerSideApply);
  await apply('leek', 'cook');
  const conflict = await refused(409, 'Conflict', () => apply('pea', 'waiter'));
  assert.deepEqual(conflict.details.causes.map(({ reason, field }) => [reason, field])[0], ['FieldManagerConflict', '.data.soup']);
  assert.equal((await apply('pea', 'waiter', true)).data.soup, 'pea');
  const read = await objects.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'any', namespace: 'default' } });
  assert.equal(read.data.soup, 'pea');
  await objects.replace({ ...read, data: { soup: 'none' } });
  const listed = await objects.list('v1', 'ConfigMap', 'default');
  assert.ok(listed.items.some((item) => item.metadata.name === 'any'));
  await objects.delete(map(''));
  const widgets = await objects.list('golden.example.com/v1', 'Widget', 'default');
  assert.deepEqual(widgets.items, []);
}

const maps = '/api/v1/namespaces/default/configmaps';
const make = (name, labels) => core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name, labels } } });
const remove = (name) => core.deleteNamespacedConfigMap({ namespace: 'default', name });

/** Watches until so many events have come, or the server ends it; gives what was told and where it ended. */
function follow(resourceVersion, query, most) {
  return new Promise((resolve, reject) => {
    const told = [];
    let last = resourceVersion;
    let ending = false;
    const tell = (type, object) => {
      last = object.metadata.resourceVersion;
      if (type !== 'BOOKMARK') told.push(`${type} ${object.metadata.name}`);
      if (told.length === most && !ending) {
        ending = true;
        watching.then((request) => request.abort());
      }
    };
    const done = (error) => (error && !ending ? reject(error) : resolve({ told, last }));
    const watching = new k8s.Watch(config).watch(maps, { resourceVersion, ...query }, tell, done);
  });
}

async function watching() {
  const start = (await core.listNamespacedConfigMap({ namespace: 'default' })).metadata.resourceVersion;
  const following = follow(start, { allowWatchBookmarks: true }, 2);
  await make('watched');
  await core.patchNamespacedConfigMap({ namespace: 'default', name: 'watched', body: { data: { a: 'b' } } }, as('MergePatch'));
  const first = await following;
  assert.deepEqual(first.told, ['ADDED watched', 'MODIFIED watched']);
  // What happened while nobody watched is told when the watch is resumed.
  await remove('watched');
  await make('unseen');
  const second = await follow(first.last, { timeoutSeconds: 1 }, 99);
  assert.deepEqual(second.told, ['DELETED watched', 'ADDED unseen'], 'nothing is missed, nothing told twice');
  await remove('unseen');
}

async function informing() {
  await make('before', { kept: 'yes' });
  const list = () => core.listNamespacedConfigMap({ namespace: 'default', labelSelector: 'kept=yes' });
  const informer = k8s.makeInformer(config, maps, list, 'kept=yes');
  const told = [];
  for (const event of ['add', 'update', 'delete']) {
    informer.on(event, (object) => told.push(`${event} ${object.metadata.name}`));
  }
  // Stopping it is such an error, too.
  informer.on('error', (error) => error.type === 'aborted' || assert.fail(error));
  await informer.start();
  assert.deepEqual(informer.list().map((object) => object.metadata.name), ['before']);
  await make('during', { kept: 'yes' });
  await make('other', { kept: 'no' });
  await core.patchNamespacedConfigMap({ namespace: 'default', name: 'during', body: { data: { a: 'b' } } }, as('MergePatch'));
  await until('it has seen the change', () => informer.get('during', 'default')?.data?.a === 'b');
  // Out of the selection is out of the copy.
  await core.patchNamespacedConfigMap(
    { namespace: 'default', name: 'during', body: { metadata: { labels: { kept: 'no' } } } }, as('MergePatch'));
  await remove('before');
  await until('the copy is empty', () => informer.list().length === 0);
  assert.deepEqual(told, ['add before', 'add during', 'update during', 'delete during', 'delete before']);
  await informer.stop();
  await make('after', { kept: 'yes' });
  await informer.start();
  await until('it has caught up', () => informer.get('after', 'default'));
  await informer.stop();
}

for (const story of [coreKinds, rights, customObjects, rules, anyObjects, watching, informing]) {
  const begun = Date.now();
  await story();
  console.log(`${story.name.padEnd(20)} ${((Date.now() - begun) / 1000).toFixed(2)} s`);
}
process.exit(0);

/**
 * A process that uploads or deletes, and kills itself right before or after its nth step. A step changes rows or files.
 * Its objects are files below `root`, or in the bucket of `PLACE`.
 */
export const OBJECTS_CHILD = `
const [dist, root, what, size, loose, step, when] = process.argv.slice(1)
const { ObjectStore } = await import(dist + '/store/objects.js')
const { Database } = await import(dist + '/store/database.js')
const { storeObjects } = await import(dist + '/library/objects/receive.js')
const { removeUnreferenced } = await import(dist + '/library/objects/remove.js')
const { markUnreferenced } = await import(dist + '/store/rows/objects.js')
const { insertFile, markFileReady } = await import(dist + '/store/rows/chat/files.js')
const { sql } = await import(dist + '/store/program.js')
const { createHash, randomUUID } = await import('node:crypto')
const { Readable } = await import('node:stream')
let steps = 0
const die = () => process.kill(process.pid, 'SIGKILL')
const mortal = (target, names) => new Proxy(target, { get(of, name) {
  const value = Reflect.get(of, name, of)
  if (typeof value !== 'function') return value
  if (!names.includes(name)) return value.bind(of)
  return async (...given) => {
    const mine = ++steps
    if (mine === Number(step) && when === 'before') die()
    const result = await value.apply(of, given)
    if (mine === Number(step) && when === 'after') die()
    return result
  }
} })
const openBucket = async (place) => {
  const { S3Objects } = await import(dist + '/store/object-s3.js')
  const store = { id: 'the-store', opened: 1, hasObjects: false }
  return S3Objects.open({ location: place, folder: root + '/objects-child', store, log: console, onKeepUnknown() {} })
}
const openFolder = async () => {
  const { FileObjects } = await import(dist + '/store/object-files.js')
  return FileObjects.open(root + '/objects')
}
const place = process.env.PLACE
const opened = await (place === undefined ? openFolder() : openBucket(JSON.parse(place)))
const context = {
  instance: randomUUID(),
  db: mortal(new Database(root + '/main.sqlite', Date.now), ['write']),
  objects: mortal(opened, ['stage', 'syncStaged', 'publish', 'remove', 'discard']),
  log: console,
  now: Date.now,
}
const bytes = Buffer.alloc(Number(size), 'bytes that come and go')
const sha256 = createHash('sha256').update(bytes).digest('hex')
const key = ObjectStore.key('tenant', sha256)
const isLoose = loose === 'true'
const { objects, db } = context
if (what === 'upload') {
  const id = '01900000-0000-7000-8000-000000000001'
  const row = { id, tenant: 'tenant', app_id: 'app', end_user_id: 'user', name: 'a', extension: 'png',
    mime_type: 'image/png', size_bytes: bytes.length, sha256, object_key: key, created_at: Date.now() }
  const staged = await objects.stage('01900000-0000-7000-8000-000000000002', Readable.from([bytes]), 1e9, 'a')
  await storeObjects(context, { tenant: 'tenant', incoming: [{ staged, key }], ...(isLoose ? { isUnreferenced: true } : {}),
    *begin() { if (!isLoose) yield* insertFile(row, 1) },
    commit: (held) => db.write(function* () { yield* held(); if (isLoose) yield* insertFile(row, 1); yield* markFileReady({ tenant: 'tenant', id }, 1) }) })
} else {
  await db.write(function* () {
    yield* sql.run('DELETE FROM chat_files', [])
    yield* markUnreferenced('tenant', [key])
  })
  await removeUnreferenced(context, 'tenant', [key])
}
process.stdout.write('done')
opened.close()
`

import { CliError, usageError } from '../cli/cli-error.js'
import { nearest } from '../cli/nearest.js'
import { textOrStdin } from '../cli/stdin.js'
import type { Client } from '../client/client.js'
import { EXIT } from '../contract/errors.js'
import { isUuid } from '../lib/ids.js'
import { type AppOptions, appFields } from './app-fields.js'
import { chooseKey, readKeys, saveKey } from './keys.js'
import type { Common } from './options.js'
import { outputOf, printList, printOne } from './output.js'
import { openGateway, serviceOf } from './service.js'

const APP_COLUMNS = [{ field: 'id' }, { field: 'name' }]

type Gateway = Awaited<ReturnType<typeof openGateway>>

async function withGateway(common: Common, work: (gateway: Gateway) => Promise<void>): Promise<void> {
  const gateway = await openGateway(common)
  try {
    await work(gateway)
  } finally {
    gateway.client.close()
  }
}

/** Makes an application with one key, which is kept under the application's name. */
export async function createApp(word: string | undefined, options: AppOptions): Promise<void> {
  await withGateway(options, async ({ client, service, dirs }) => {
    const fields = await appFields(client, options)
    const name = word ?? fields.name
    if (typeof name !== 'string')
      throw usageError('an application needs a name', 'give it as the argument, or in `--from`')
    const app = await client.request('POST /chat-apps', { body: { ...fields, name } })
    const { key } = await client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } })
    saveKey(dirs.config, name, { service, key })
    const out = outputOf(options)
    if (out.isJson) out.json(app)
    else await printList([app], options, { columns: APP_COLUMNS, empty: '' })
  })
}

export async function listApps(options: Common): Promise<void> {
  await withGateway(options, async ({ client }) => {
    const { items } = await client.request('GET /chat-apps', {})
    await printList(items, options, {
      columns: [...APP_COLUMNS, { field: 'enabled' }, { field: 'description' }],
      empty: 'No applications yet.',
      hint: '`kchat apps create NAME --space SPACE` makes one',
    })
  })
}

export async function showApp(word: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) =>
    printOne(await client.request('GET /chat-apps/{appId}', { path: await pathOf(client, word) }), options),
  )
}

export async function updateApp(word: string, options: AppOptions): Promise<void> {
  await withGateway(options, async ({ client }) => {
    const path = await pathOf(client, word)
    const current = async () => ({ ...(await client.request('GET /chat-apps/{appId}', { path })) })
    const body = await appFields(client, options, current)
    if (Object.keys(body).length === 0)
      throw usageError('nothing is named that should change', '`kchat apps update --help` lists the options')
    printOne(await client.request('PATCH /chat-apps/{appId}', { path, body }), options)
  })
}

export async function deleteApp(word: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) => {
    await client.request('DELETE /chat-apps/{appId}', { path: await pathOf(client, word) })
  })
}

/** Shows a new key: the only time that it is seen. */
export async function createKey(word: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) => {
    const made = await client.request('POST /chat-apps/{appId}/keys', { path: await pathOf(client, word) })
    const out = outputOf(options)
    if (out.isJson) out.json(made)
    else out.line(made.key)
  })
}

export async function listKeys(word: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) => {
    const { items } = await client.request('GET /chat-apps/{appId}/keys', { path: await pathOf(client, word) })
    await printList(items, options, {
      columns: [
        { field: 'id' },
        { field: 'hint' },
        { field: 'createdAt', title: 'MADE', kind: 'time' },
        { field: 'revokedAt', title: 'REVOKED', kind: 'time' },
      ],
      empty: 'No keys.',
    })
  })
}

export async function revokeKey(word: string, keyId: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) => {
    await client.request('DELETE /chat-apps/{appId}/keys/{keyId}', {
      path: { ...(await pathOf(client, word)), keyId },
    })
  })
}

/** The application that an id or a name means. @throws CliError exit 5, or 2 where several have the name */
async function pathOf(client: Client, word: string): Promise<{ appId: string }> {
  if (isUuid(word)) return { appId: word }
  const { items } = await client.request('GET /chat-apps', {})
  const [only, other] = items.filter(({ name }) => name === word)
  if (only !== undefined && other === undefined) return { appId: only.id }
  if (only !== undefined) throw usageError(`several applications are named ${JSON.stringify(word)}`, 'give the id')
  const names = items.map(({ name }) => name)
  const close = nearest(word, names)
  throw new CliError(`no application ${JSON.stringify(word)} here`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: `${close === undefined ? '' : `did you mean \`${close}\`? `}\`kchat apps\` lists all`,
  })
}

/** `kchat login NAME`: keeps the key that stdin gives. */
export async function login(name: string, options: Common): Promise<void> {
  const { service, dirs } = serviceOf(options)
  const key = await textOrStdin('-', 'the key')
  if (!/^\S+$/.test(key)) throw usageError('stdin must hold one application key')
  saveKey(dirs.config, name, { service, key })
}

/** `kchat use [NAME]`: makes a stored key the current one, or lists them. */
export async function use(name: string | undefined, options: Common): Promise<void> {
  const { dirs } = serviceOf(options)
  if (name !== undefined) {
    chooseKey(dirs.config, name)
    return
  }
  const { current, apps } = readKeys(dirs.config)
  const rows = Object.entries(apps).map(([app, { service }]) => ({ name: app, service, current: app === current }))
  await printList(rows, options, {
    columns: [{ field: 'name' }, { field: 'service' }, { field: 'current' }],
    empty: 'No key is stored.',
    hint: '`kchat apps create NAME --space SPACE` makes an application and keeps its key',
  })
}

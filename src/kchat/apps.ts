import { CliError, usageError } from '../cli/cli-error.js'
import type { Column } from '../cli/columns.js'
import type { Output } from '../cli/output.js'
import { askSecret, confirm } from '../cli/prompt.js'
import { endsIn } from '../cli/recent-ids.js'
import { textOrStdin } from '../cli/stdin.js'
import type { Client } from '../client/client.js'
import type { NewChatAppKey } from '../contract/chat/apps.js'
import { EXIT } from '../contract/errors.js'
import { isUuid } from '../lib/ids.js'
import { nearest } from '../lib/text/nearest.js'
import { type AppOptions, appFields } from './app-fields.js'
import { idOf, isTail } from './ids.js'
import { chooseKey, readKeys, type SavedKey, saveKey } from './keys.js'
import type { Common, ManageOptions } from './options.js'
import { outputOf, printDone, printList, printOne } from './output.js'
import { openGateway } from './service.js'
import { mayPrompt, serviceOf } from './settings.js'
import { compareVersions } from './version.js'

const APP_COLUMNS: Column[] = [{ field: 'id', kind: 'id' }, { field: 'name' }]

async function withGateway(common: Common, work: (client: Client) => Promise<void>): Promise<void> {
  const client = await openGateway(common)
  try {
    await work(client)
  } finally {
    client.close()
    compareVersions(client.serverVersion)
  }
}

/** Makes an application with one key, which is kept under the application's name. */
export async function createApp(word: string | undefined, options: AppOptions & { use?: boolean }): Promise<void> {
  await withGateway(options, async (client) => {
    const fields = await appFields(client, options)
    const name = word ?? fields.name
    if (typeof name !== 'string')
      throw usageError('an application needs a name', 'give it as the argument, or in `--from`')
    const app = await client.request('POST /chat-apps', { body: { ...fields, name } })
    const key = keyOf(await client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } }))
    const { service, dirs } = serviceOf(options)
    const kept = saveKey(dirs.config, name, { service, key }, options.use === true)
    const out = outputOf(options)
    if (out.isJson) out.json(app)
    else {
      await printList([app], options, { columns: APP_COLUMNS, empty: '' })
    }
    sayKept(out, name, kept)
  })
}

/** Which key is used from now on is said in every format: what follows goes to that application. */
function sayKept(out: Output, name: string, { current, isReplaced }: SavedKey): void {
  const said = JSON.stringify(name)
  if (isReplaced) out.note(`The key that was kept as ${said} before is replaced.`)
  out.note(
    current === name
      ? `A key is kept as ${said}, and is the current one: \`kchat send TEXT\` uses it.`
      : `A key is kept as ${said}. ${JSON.stringify(current)} stays the current one: \`kchat use ${name}\` changes that.`,
  )
}

export async function listApps(options: Common): Promise<void> {
  await withGateway(options, async (client) => {
    const { items } = await client.request('GET /chat-apps', {})
    await printList(items, options, {
      columns: [...APP_COLUMNS, { field: 'enabled' }, { field: 'description' }],
      empty: 'No applications yet.',
      hint: '`kchat apps create NAME --space SPACE` makes one',
    })
  })
}

export async function showApp(word: string, options: Common): Promise<void> {
  await withGateway(options, async (client) =>
    printApp(await client.request('GET /chat-apps/{appId}', { path: await pathOf(client, word) }), options),
  )
}

/** For people, what is not set is empty, where nothing at all would be shown of a null. */
function printApp(app: object, options: Common): void {
  const { isJson } = outputOf(options)
  printOne(isJson ? app : JSON.parse(JSON.stringify(app, (_name, value: unknown) => value ?? '')), options)
}

export async function updateApp(word: string, options: AppOptions): Promise<void> {
  await withGateway(options, async (client) => {
    const path = await pathOf(client, word)
    const current = async () => ({ ...(await client.request('GET /chat-apps/{appId}', { path })) })
    const body = await appFields(client, options, current)
    if (Object.keys(body).length === 0)
      throw usageError('nothing is named that should change', '`kchat apps update --help` lists the options')
    printApp(await client.request('PATCH /chat-apps/{appId}', { path, body }), options)
  })
}

export async function deleteApp(word: string, options: ManageOptions): Promise<void> {
  await withGateway(options, async (client) => {
    const path = await pathOf(client, word)
    const what = `deleting application ${JSON.stringify(word)} with its keys and conversations`
    if (!(await confirm(what, { yes: options.yes === true, interactive: mayPrompt(options) })))
      return outputOf(options).note('Nothing was deleted.')
    await client.request('DELETE /chat-apps/{appId}', { path })
    printDone(options, { id: path.appId, deleted: true }, 'Deleted.')
  })
}

/** Shows a new key: the only time that it is seen. */
export async function createKey(word: string, options: Common): Promise<void> {
  await withGateway(options, async (client) => {
    const made = await client.request('POST /chat-apps/{appId}/keys', { path: await pathOf(client, word) })
    const out = outputOf(options)
    if (out.isJson) out.json(made)
    else out.line(keyOf(made))
  })
}

/** @throws CliError when the service has answered this request before, and the answer was lost on its way */
function keyOf({ id, key }: NewChatAppKey): string {
  if (key !== null) return key
  throw new CliError(`the key ${id} was made, but the answer that showed it was lost`, {
    exit: EXIT.failed,
    hint: 'revoke it and make another one',
  })
}

export async function listKeys(word: string, options: Common): Promise<void> {
  await withGateway(options, async (client) => {
    const { items } = await client.request('GET /chat-apps/{appId}/keys', { path: await pathOf(client, word) })
    await printList(items, options, {
      columns: [
        { field: 'id', kind: 'id' },
        { field: 'hint' },
        { field: 'createdAt', title: 'MADE', kind: 'time' },
        { field: 'revokedAt', title: 'REVOKED', kind: 'time' },
      ],
      empty: 'No keys.',
    })
  })
}

export async function revokeKey(word: string, key: string, options: Common): Promise<void> {
  const keyId = idOf('key', key)
  await withGateway(options, async (client) => {
    await client.request('DELETE /chat-apps/{appId}/keys/{keyId}', {
      path: { ...(await pathOf(client, word)), keyId },
    })
    printDone(options, { id: keyId, revoked: true }, 'Revoked.')
  })
}

/** The application that an id, the end of one, or a name means. @throws CliError exit 5, or 2 where several have the name */
async function pathOf(client: Client, word: string): Promise<{ appId: string }> {
  if (isUuid(word)) return { appId: word }
  const { items } = await client.request('GET /chat-apps', {})
  const tail = isTail(word) ? word.replace('#', '').toLowerCase() : undefined
  const [only, other] = items.filter(({ id, name }) => name === word || (tail !== undefined && endsIn(id, tail)))
  if (only !== undefined && other === undefined) return { appId: only.id }
  if (only !== undefined) throw usageError(`${JSON.stringify(word)} means several applications`, 'give the id')
  const names = items.map(({ name }) => name)
  const close = nearest(word, names)
  throw new CliError(`no application ${JSON.stringify(word)} here`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: `${close === undefined ? '' : `did you mean \`${close}\`? `}\`kchat apps\` lists all`,
  })
}

/** `kchat login NAME`: keeps the key that stdin gives, or that is typed unseen. */
export async function login(name: string, options: Common): Promise<void> {
  const { service, dirs } = serviceOf(options)
  const isTyped = process.stdin.isTTY === true && mayPrompt({})
  const key = isTyped ? (await askSecret(`Key for ${name}: `)).trim() : await textOrStdin('-', 'the key')
  if (!/^\S+$/.test(key)) throw usageError(isTyped ? 'a key is one word' : 'stdin must hold one application key')
  const { isReplaced } = saveKey(dirs.config, name, { service, key }, true)
  const replaced = isReplaced ? ', in place of the one before' : ''
  const remark = `Kept the key for ${service} as ${JSON.stringify(name)}${replaced}. It is the current one.`
  printDone(options, { name, service, stored: true, current: true }, remark)
}

/** `kchat use [NAME]`: makes a stored key the current one, or lists them. */
export async function use(name: string | undefined, options: Common): Promise<void> {
  const { dirs } = serviceOf(options)
  if (name !== undefined) {
    chooseKey(dirs.config, name)
    printDone(options, { name, current: true }, `${JSON.stringify(name)} is the current key.`)
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

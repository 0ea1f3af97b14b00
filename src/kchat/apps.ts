import { CliError, usageError } from '../cli/cli-error.js'
import type { OutputColumn } from '../cli/columns.js'
import { toPromptOptions } from '../cli/common-options.js'
import type { Output } from '../cli/output.js'
import { askSecret, confirm } from '../cli/prompt.js'
import { hasIdTail } from '../cli/recent-ids.js'
import { readTextOrStdin } from '../cli/stdin.js'
import type { Client } from '../client/client.js'
import type { NewChatAppKey } from '../contract/chat/apps.js'
import { EXIT } from '../contract/errors.js'
import { isUuid } from '../lib/ids.js'
import { findNearest } from '../lib/text/nearest.js'
import { type AppOptions, buildAppFields } from './app-fields.js'
import { isIdTail, resolveTypedId } from './ids.js'
import { readKeys, type SavedKey, saveKey, setCurrentKey } from './keys.js'
import type { KchatOptions, ManageOptions } from './options.js'
import { createOutput, printDone, printList, printOne } from './output.js'
import { openGateway } from './service.js'
import { readOptions, resolveKeyStore } from './settings.js'
import { warnIfVersionsDiffer } from './version.js'

const APP_COLUMNS: OutputColumn[] = [{ field: 'id', kind: 'id' }, { field: 'name' }]

async function withGateway(options: KchatOptions, work: (client: Client) => Promise<void>): Promise<void> {
  const client = await openGateway(options)
  try {
    await work(client)
  } finally {
    client.close()
    warnIfVersionsDiffer(client.serverVersion)
  }
}

/** Creates an application with one key and stores the key under the application's name. */
export async function createApp(typedName: string | undefined, options: AppOptions & { use?: boolean }): Promise<void> {
  await withGateway(options, async (client) => {
    const fields = await buildAppFields(client, options)
    const name = typedName ?? fields.name
    if (typeof name !== 'string')
      throw usageError('an application needs a name', 'give it as the argument, or in `--from`')
    const app = await client.request('POST /chat-apps', { body: { ...fields, name } })
    const key = getKeySecret(await client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } }))
    const { service, dirs } = resolveKeyStore(options)
    const savedKey = saveKey(dirs.config, name, { service, key, makeCurrent: options.use === true })
    const out = createOutput(options)
    if (out.isJson) out.json(app)
    else await printList([app], options, { columns: APP_COLUMNS, empty: '' })
    reportSavedKey(out, name, savedKey)
  })
}

/** Reports the current key in every output format, because the next commands go to its application. */
function reportSavedKey(out: Output, name: string, { current, isReplaced }: SavedKey): void {
  const quotedName = JSON.stringify(name)
  if (isReplaced) out.note(`Replaced the key that was stored as ${quotedName}.`)
  out.note(
    current === name
      ? `Stored a key as ${quotedName}. It is the current key: \`kchat send TEXT\` uses it.`
      : `Stored a key as ${quotedName}. ${JSON.stringify(current)} stays the current key: \`kchat use ${name}\` changes that.`,
  )
}

export async function listApps(options: KchatOptions): Promise<void> {
  await withGateway(options, async (client) => {
    const { items } = await client.request('GET /chat-apps', {})
    await printList(items, options, {
      columns: [...APP_COLUMNS, { field: 'enabled' }, { field: 'description' }],
      empty: 'No applications yet.',
      hint: '`kchat apps create NAME --space SPACE` creates one',
    })
  })
}

export async function showApp(nameOrId: string, options: KchatOptions): Promise<void> {
  await withGateway(options, async (client) =>
    printApp(await client.request('GET /chat-apps/{appId}', { path: await resolveAppPath(client, nameOrId) }), options),
  )
}

/** Prints an application. Unset values become empty texts for people, because a null would not be printed. */
function printApp(app: object, options: KchatOptions): void {
  const { isJson } = createOutput(options)
  printOne(isJson ? app : JSON.parse(JSON.stringify(app, (_name, value: unknown) => value ?? '')), options)
}

export async function updateApp(nameOrId: string, options: AppOptions): Promise<void> {
  await withGateway(options, async (client) => {
    const path = await resolveAppPath(client, nameOrId)
    const loadCurrentApp = async () => ({ ...(await client.request('GET /chat-apps/{appId}', { path })) })
    const body = await buildAppFields(client, options, loadCurrentApp)
    if (Object.keys(body).length === 0)
      throw usageError('no field to change is given', '`kchat apps update --help` lists the options')
    printApp(await client.request('PATCH /chat-apps/{appId}', { path, body }), options)
  })
}

export async function deleteApp(nameOrId: string, options: ManageOptions): Promise<void> {
  await withGateway(options, async (client) => {
    const path = await resolveAppPath(client, nameOrId)
    const action = `deleting application ${JSON.stringify(nameOrId)} with its keys and conversations`
    if (!(await confirm(action, toPromptOptions(readOptions(options)))))
      return createOutput(options).note('Nothing was deleted.')
    await client.request('DELETE /chat-apps/{appId}', { path })
    printDone(options, { id: path.appId, deleted: true }, 'Deleted.')
  })
}

/** Creates and prints a new key, which is never shown again. */
export async function createKey(nameOrId: string, options: KchatOptions): Promise<void> {
  await withGateway(options, async (client) => {
    const path = await resolveAppPath(client, nameOrId)
    const created = await client.request('POST /chat-apps/{appId}/keys', { path })
    const out = createOutput(options)
    if (out.isJson) out.json(created)
    else out.line(getKeySecret(created))
  })
}

/** @throws CliError if the service has already answered this request and that response was lost */
function getKeySecret({ id, key }: NewChatAppKey): string {
  if (key !== null) return key
  throw new CliError(`the key ${id} was created, but the response with it was lost`, {
    exit: EXIT.failed,
    hint: 'revoke it and create another one',
  })
}

export async function listKeys(nameOrId: string, options: KchatOptions): Promise<void> {
  await withGateway(options, async (client) => {
    const path = await resolveAppPath(client, nameOrId)
    const { items } = await client.request('GET /chat-apps/{appId}/keys', { path })
    await printList(items, options, {
      columns: [
        { field: 'id', kind: 'id' },
        { field: 'hint' },
        { field: 'createdAt', title: 'CREATED', kind: 'time' },
        { field: 'revokedAt', title: 'REVOKED', kind: 'time' },
      ],
      empty: 'No keys.',
    })
  })
}

export async function revokeKey(nameOrId: string, typedId: string, options: KchatOptions): Promise<void> {
  const keyId = resolveTypedId('key', typedId)
  await withGateway(options, async (client) => {
    await client.request('DELETE /chat-apps/{appId}/keys/{keyId}', {
      path: { ...(await resolveAppPath(client, nameOrId)), keyId },
    })
    printDone(options, { id: keyId, revoked: true }, 'Revoked.')
  })
}

/** Finds an application by id, end of an id, or name. @throws CliError exit 5, or 2 if several match */
async function resolveAppPath(client: Client, nameOrId: string): Promise<{ appId: string }> {
  if (isUuid(nameOrId)) return { appId: nameOrId }
  const { items } = await client.request('GET /chat-apps', {})
  const tail = isIdTail(nameOrId) ? nameOrId.replace('#', '').toLowerCase() : undefined
  const [only, another] = items.filter(
    ({ id, name }) => name === nameOrId || (tail !== undefined && hasIdTail(id, tail)),
  )
  if (only !== undefined && another === undefined) return { appId: only.id }
  if (only !== undefined) throw usageError(`${JSON.stringify(nameOrId)} matches several applications`, 'give the id')
  const names = items.map(({ name }) => name)
  const nearestName = findNearest(nameOrId, names)
  throw new CliError(`there is no application ${JSON.stringify(nameOrId)}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: `${nearestName === undefined ? '' : `did you mean \`${nearestName}\`? `}\`kchat apps\` lists all`,
  })
}

/** `kchat login NAME`: stores a key from stdin, or from a prompt without echo. */
export async function storeKey(name: string, options: KchatOptions): Promise<void> {
  const { service, dirs } = resolveKeyStore(options)
  const isPrompted = toPromptOptions(readOptions(options)).interactive
  const key = isPrompted ? (await askSecret(`Key for ${name}: `)).trim() : await readTextOrStdin('-', 'the key')
  if (!/^\S+$/.test(key))
    throw usageError(isPrompted ? 'a key has no spaces' : 'stdin must contain one application key')
  const { isReplaced } = saveKey(dirs.config, name, { service, key, makeCurrent: true })
  const replacement = isReplaced ? ', replacing the previous one' : ''
  const note = `Stored the key for ${service} as ${JSON.stringify(name)}${replacement}. It is the current key.`
  printDone(options, { name, service, stored: true, current: true }, note)
}

/** `kchat use [NAME]`: selects a stored key as the current one, or lists the keys. */
export async function selectKey(name: string | undefined, options: KchatOptions): Promise<void> {
  const { dirs } = resolveKeyStore(options)
  if (name !== undefined) {
    setCurrentKey(dirs.config, name)
    printDone(options, { name, current: true }, `${JSON.stringify(name)} is the current key.`)
    return
  }
  const { current, apps } = readKeys(dirs.config)
  const rows = Object.entries(apps).map(([app, { service }]) => ({ name: app, service, current: app === current }))
  await printList(rows, options, {
    columns: [{ field: 'name' }, { field: 'service' }, { field: 'current' }],
    empty: 'No key is stored.',
    hint: '`kchat apps create NAME --space SPACE` creates an application and stores its key',
  })
}

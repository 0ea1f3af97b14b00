import { usageError } from '../cli/cli-error.js'
import { resolveSpace } from '../cli/resolve.js'
import { textOrStdin } from '../cli/stdin.js'
import type { Client } from '../client/client.js'
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

interface AppOptions extends Common {
  space?: string[]
  description?: string
  opening?: string
  name?: string
  suggest?: boolean
  vision?: boolean
  images?: string
  speechToText?: boolean
  textToSpeech?: boolean
  voice?: string
  language?: string
  autoPlay?: boolean
  enabled?: boolean
}

/** Makes an application with one key, which is kept under the application's name. */
export async function createApp(name: string, options: AppOptions): Promise<void> {
  await withGateway(options, async ({ client, service, dirs }) => {
    const body = { ...(await fieldsOf(client, options)), name }
    const app = await client.request('POST /chat-apps', { body })
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

export async function showApp(id: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) =>
    printOne(await client.request('GET /chat-apps/{appId}', { path: { appId: id } }), options),
  )
}

export async function updateApp(id: string, options: AppOptions): Promise<void> {
  await withGateway(options, async ({ client }) => {
    const body = {
      ...(await fieldsOf(client, options)),
      ...(options.name === undefined ? {} : { name: options.name }),
      ...(options.enabled === undefined ? {} : { enabled: options.enabled }),
    }
    printOne(await client.request('PATCH /chat-apps/{appId}', { path: { appId: id }, body }), options)
  })
}

export async function deleteApp(id: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) => {
    await client.request('DELETE /chat-apps/{appId}', { path: { appId: id } })
  })
}

/** Shows a new key: the only time that it is seen. */
export async function createKey(id: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) => {
    const made = await client.request('POST /chat-apps/{appId}/keys', { path: { appId: id } })
    const out = outputOf(options)
    if (out.isJson) out.json(made)
    else out.line(made.key)
  })
}

export async function listKeys(id: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) => {
    const { items } = await client.request('GET /chat-apps/{appId}/keys', { path: { appId: id } })
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

export async function revokeKey(id: string, keyId: string, options: Common): Promise<void> {
  await withGateway(options, async ({ client }) => {
    await client.request('DELETE /chat-apps/{appId}/keys/{keyId}', { path: { appId: id, keyId } })
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

async function fieldsOf(client: Client, options: AppOptions) {
  const { space, description, opening, suggest } = options
  const knowledgeSpaceIds: string[] = []
  for (const word of space ?? []) knowledgeSpaceIds.push((await resolveSpace(client, word)).id)
  return {
    ...(space === undefined ? {} : { knowledgeSpaceIds }),
    ...(description === undefined ? {} : { description }),
    ...(opening === undefined ? {} : { openingStatement: opening }),
    ...(suggest === undefined ? {} : { suggestedQuestionsAfterAnswer: suggest }),
    ...part('vision', {
      enabled: options.vision,
      numberLimits: options.images === undefined ? undefined : Number(options.images),
    }),
    ...part('speechToText', { enabled: options.speechToText, language: options.language }),
    ...part('textToSpeech', {
      enabled: options.textToSpeech,
      voice: options.voice,
      language: options.language,
      autoPlay: options.autoPlay,
    }),
  }
}

/** A feature with what was said of it; nothing where nothing was. */
function part(name: string, fields: object): object {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return Object.keys(given).length === 0 ? {} : { [name]: given }
}

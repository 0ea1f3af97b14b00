import { CALLERS, type CallerKind } from '../../src/contract/callers.js'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'
import { forgedToken } from '../helpers/tokens.js'
import { type Planted, plant } from './planted.js'

const SETTINGS = { egressAllow: ['127.0.0.2'] }
/** the end user of the planted conversations */
export const END_USER = 'eve'

/** What a caller may see; `tenant`: all data of the planted tenant except what only its owner may see. */
type Sight = 'nothing' | 'tenant' | 'everything'

/** A caller, for operations on data of others. */
export interface Walker {
  name: string
  kind: CallerKind
  token: string | undefined
  sees: Sight
  /** the end user in requests to the chat service */
  user: string
}

export interface Ground {
  edge: TestEdge
  planted: Planted
  walkers: readonly Walker[]
  end(): Promise<void>
}

/**
 * Starts a daemon in which Ada has data of every kind, some of it in a source that only she may read, and makes callers
 * of every kind: of another tenant, of another subject, or without the right that an operation needs.
 *
 * @param alter changes the planted data before the first call
 */
export async function prepareWalk(
  alter: (edge: TestEdge, planted: Planted) => Promise<void>,
  sees: readonly Sight[],
): Promise<Ground> {
  const first = await startEdge({ settings: SETTINGS })
  const planted = await plant(first)
  await alter(first, planted)
  const { tokens, engine, dataDir } = first
  const makeApp = async (token: string, json: object) => {
    const { id } = await bodyOf<{ id: string }>(await first.send('POST', '/chat-apps', { token, json }))
    const { key } = await bodyOf<{ key: string }>(await first.send('POST', `/chat-apps/${id}/keys`, { token }))
    return { id, key }
  }
  // On the same space, by a subject who may not see all of it.
  const mine = await makeApp(tokens.carol, { name: 'Mine', knowledgeSpaceIds: [planted.space] })
  const theirs = await makeApp(tokens.bob, { name: 'Theirs' })
  // A setting selects the pages, and the daemon assigns the ids of applications.
  const edge = await startEdge({ settings: { ...SETTINGS, chatPages: [`tenant-a/${mine.id}`] }, engine, dataDir })
  const visit = async (path: string, token?: string) =>
    await bodyOf<{ token: string; user: string }>(await edge.send('POST', path, { token, json: {} }))
  const visitor = await visit(`/chat/${mine.id}/visits`)
  const owner = await visit(`/daemon/console/chats/${mine.id}`, tokens.carol)
  const { code } = await bodyOf<{ code: string }>(
    await edge.send('POST', '/daemon/console/codes', { token: tokens.operator }),
  )
  const tab = await bodyOf<{ token: string }>(await edge.send('POST', '/daemon/console/sessions', { json: { code } }))
  const walker = (
    name: string,
    kind: keyof typeof CALLERS,
    token: string | undefined,
    sees: Sight,
    user = END_USER,
  ): Walker => {
    const found = CALLERS[kind]
    if (found === undefined) throw new Error(`no kind of callers is called ${kind}`)
    return { name, kind: found, token, sees, user }
  }
  const forged = forgedToken(
    { alg: 'none' },
    { sub: 'ada', tenant: 'tenant-a', scope: 'knowledge-spaces:*', exp: 9e9 },
    'x',
  )
  const walkers = [
    walker('no token', 'no credential', undefined, 'nothing'),
    walker('an empty token', 'no credential', '', 'nothing'),
    walker('a forged token', 'no credential', forged, 'nothing'),
    walker('a token with a changed signature', 'no credential', `${tokens.ada}x`, 'nothing'),
    walker('a token without scopes', 'token without scopes', tokens.noScope, 'everything'),
    walker('a token that only reads', 'token with read', tokens.readOnly, 'everything'),
    walker('a token that only writes', 'token with write', tokens.writeOnly, 'everything'),
    walker('a subject outside of the permission scope', 'token with every scope', tokens.carol, 'tenant'),
    walker('another tenant', 'token with every scope', tokens.bob, 'nothing'),
    walker('the operator', 'operator', tokens.operator, 'nothing'),
    walker('a tab of the console', 'console tab', tab.token, 'nothing'),
    walker('a key of an application of the subject', 'application key', mine.key, 'tenant'),
    walker('a key of an application of another tenant', 'application key', theirs.key, 'nothing'),
    walker('a visitor of the page', 'visitor of the page', visitor.token, 'tenant', visitor.user),
    walker('a visitor who names another user', 'visitor of the page', visitor.token, 'tenant'),
    walker('the owner on the page', 'owner of the application, on its page', owner.token, 'tenant'),
  ]
  const end = async () => {
    await edge.end()
    await first.end()
  }
  return { edge, planted, walkers: walkers.filter((one) => sees.includes(one.sees)), end }
}

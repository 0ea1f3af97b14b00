import { CliError } from '../cli/cli-error.js'
import { resolveId } from '../cli/resolve.js'
import { EXIT } from '../contract/errors.js'
import { toNonEmptyString } from '../lib/json/values.js'
import { resolveLocalDirs } from '../local/dirs.js'
import { toItems } from './pages.js'
import type { ChatService } from './service.js'

/** Resolves an id as it was typed: complete, or its last 8 digits that a table showed. @throws CliError exit 5 */
export function resolveTypedId(kind: string, typedId: string): string {
  return isIdTail(typedId) ? resolveId(kind, typedId, resolveLocalDirs().cache) : typedId
}

/** Resolves an id like `resolveTypedId`, and encodes it for a URL path. @throws CliError exit 5 */
export function resolveIdForPath(kind: string, typedId: string): string {
  return encodeURIComponent(resolveTypedId(kind, typedId))
}

/**
 * Resolves a conversation by its id, the last 8 digits of its id, or `last` for the user's latest one.
 *
 * @throws CliError exit 5
 */
export async function resolveConversationId(chat: ChatService, reference: string): Promise<string> {
  if (reference !== 'last') return resolveTypedId('conversation', reference)
  const [latest] = toItems(await chat.call('GET', `/conversations?limit=1&user=${chat.encodedUser}`))
  const id = toNonEmptyString(latest?.id)
  if (id === undefined) throw new CliError('there is no conversation yet', { code: 'not-found', exit: EXIT.notFound })
  return id
}

/** Whether a text may be the last 8 digits of an id. */
export function isIdTail(text: string): boolean {
  return /^#?[0-9a-f]{8}$/i.test(text)
}

import { type CompletionContext, completeProgram } from '../cli/complete.js'
import { findFlagValue } from '../cli/completing/completion-line.js'
import { type CompletionKind, KCHAT_NAMES } from '../cli/completing/kinds.js'
import { getIds, getItems } from '../cli/completing/pages.js'
import { openServiceReader } from '../cli/completing/service-reader.js'
import type { ConfiguredService } from '../cli/contexts.js'
import { toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { selectApiKey } from './key.js'
import { readKeys } from './keys.js'
import type { KchatOptions } from './options.js'
import { resolveCommandSettings, selectUser } from './settings.js'

const PAGE = 100

/** `kchat __complete SHELL …`, like that of `ks`. */
export async function complete(argv: readonly string[]): Promise<void> {
  await completeProgram(argv, { program: 'kchat', names: KCHAT_NAMES, listOwnValues: listCandidates })
}

function listCandidates(kind: CompletionKind, where: CompletionContext): Promise<readonly string[]> | undefined {
  switch (kind) {
    case 'key':
      return Promise.resolve(Object.keys(readKeys(where.dirs.config).apps))
    case 'app':
      return listApps(where)
    case 'conversation':
      return listFromApplication(where, (user) => `/v1/conversations?user=${user}&limit=${PAGE}`).then((ids) =>
        where.line.words.at(-1) === '--conversation' ? ['new', 'last', ...ids] : ids,
      )
    case 'annotation':
      return listFromApplication(where, () => `/v1/apps/annotations?page=1&limit=${PAGE}`)
    default:
      return undefined
  }
}

/** Names of applications; ids for names that several applications have. */
async function listApps({ settings }: CompletionContext): Promise<readonly string[]> {
  const page = await readFromService(settings().service.value, '/chat-apps')
  return [...getItems(page).flatMap(({ name }) => toNonEmptyString(name) ?? []), ...getIds(page)]
}

/** Ids from the service for the key of the application. The service is selected as in every other command. */
async function listFromApplication(
  where: CompletionContext,
  path: (user: string) => string,
): Promise<readonly string[]> {
  const { words } = where.line
  const value = (name: string) => findFlagValue(words, [name])
  const options: KchatOptions = {
    ...omitUndefined({ url: value('--url'), context: value('--context'), app: value('--app'), user: value('--user') }),
    autostart: false,
  }
  const location = resolveCommandSettings(options).service
  const { token } = selectApiKey(options, location.origin !== 'project')
  const user = encodeURIComponent(selectUser(options))
  return getIds(await readFromService(location.value, path(user), token))
}

async function readFromService(service: ConfiguredService, path: string, token?: string): Promise<unknown> {
  const reader = await openServiceReader(service, token)
  try {
    return await reader?.get(path)
  } finally {
    reader?.close()
  }
}

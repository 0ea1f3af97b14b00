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

const PAGE_SIZE = 100

/** `kchat __complete SHELL …`, like that of `ks`. */
export async function complete(argv: readonly string[]): Promise<void> {
  await completeProgram(argv, { program: 'kchat', names: KCHAT_NAMES, listOwnValues: listCandidates })
}

function listCandidates(kind: CompletionKind, context: CompletionContext): Promise<readonly string[]> | undefined {
  switch (kind) {
    case 'key':
      return Promise.resolve(Object.keys(readKeys(context.dirs.config).apps))
    case 'app':
      return listAppNames(context)
    case 'conversation':
      return listFromApplication(context, (user) => `/v1/conversations?user=${user}&limit=${PAGE_SIZE}`).then((ids) =>
        context.line.words.at(-1) === '--conversation' ? ['new', 'last', ...ids] : ids,
      )
    case 'annotation':
      return listFromApplication(context, () => `/v1/apps/annotations?page=1&limit=${PAGE_SIZE}`)
    default:
      return undefined
  }
}

/** Lists names and ids of applications: a name may belong to several. */
async function listAppNames({ settings }: CompletionContext): Promise<readonly string[]> {
  const page = await readFromService(settings().service.value, '/chat-apps')
  return [...getItems(page).flatMap(({ name }) => toNonEmptyString(name) ?? []), ...getIds(page)]
}

/**
 * Requests ids of what belongs to an application, authenticated by its key. Service and key are selected as in every
 * other command.
 */
async function listFromApplication(
  { line: { words } }: CompletionContext,
  buildPath: (user: string) => string,
): Promise<readonly string[]> {
  const getFlag = (name: string) => findFlagValue(words, [name])
  const options: KchatOptions = {
    ...omitUndefined({
      url: getFlag('--url'),
      context: getFlag('--context'),
      app: getFlag('--app'),
      user: getFlag('--user'),
    }),
    autostart: false,
  }
  const service = resolveCommandSettings(options).service
  const { token } = selectApiKey(options, { isTrusted: service.origin !== 'project' })
  const user = encodeURIComponent(selectUser(options))
  return getIds(await readFromService(service.value, buildPath(user), token))
}

async function readFromService(service: ConfiguredService, path: string, token?: string): Promise<unknown> {
  const reader = await openServiceReader(service, token)
  try {
    return await reader?.get(path)
  } finally {
    reader?.close()
  }
}

import { completeFor, type Where } from '../cli/complete.js'
import { askerOf } from '../cli/completing/asker.js'
import { KeptAnswers } from '../cli/completing/kept.js'
import { KCHAT, type Kind } from '../cli/completing/kinds.js'
import { idsOf, itemsOf } from '../cli/completing/pages.js'
import { flagValue } from '../cli/completing/words.js'
import { defined } from '../lib/defined.js'
import { textOf } from '../lib/json/values.js'
import { keyFor } from './key.js'
import { readKeys } from './keys.js'
import type { Common } from './options.js'
import { settingsOf, userOf } from './settings.js'

const PAGE = 100

/** `kchat __complete SHELL …`, like that of `ks`. */
export async function complete(argv: readonly string[]): Promise<void> {
  await completeFor(argv, { program: 'kchat', names: KCHAT, own })
}

function own(kind: Kind, where: Where): Promise<readonly string[]> | undefined {
  switch (kind) {
    case 'key':
      return Promise.resolve(Object.keys(readKeys(where.dirs.config).apps))
    case 'app':
      return apps(where)
    case 'conversation':
      return ofApplication(where, (user) => `/v1/conversations?user=${user}&limit=${PAGE}`).then((ids) =>
        where.asked.words.at(-1) === '--conversation' ? ['new', 'last', ...ids] : ids,
      )
    case 'annotation':
      return ofApplication(where, () => `/v1/apps/annotations?page=1&limit=${PAGE}`)
    default:
      return undefined
  }
}

/** Names of applications; ids for names that several applications have. */
async function apps({ settings, dirs }: Where): Promise<readonly string[]> {
  const place = settings().place.value
  const kept = new KeptAnswers(dirs.cache, JSON.stringify(place))
  const known = kept.find('apps', '')
  if (known !== undefined) return known.values
  const asker = await askerOf(place)
  if (asker === undefined) return []
  try {
    const items = itemsOf(await asker.get('/chat-apps'))
    const names = items.flatMap(({ name }) => textOf(name) ?? [])
    const values = [...new Set([...names, ...idsOf({ items })])]
    kept.keep('apps', '', { values, isWhole: true })
    return values
  } finally {
    asker.close()
  }
}

/** Ids from the service for the key of the application. The service is selected as in every other command. */
async function ofApplication(where: Where, path: (user: string) => string): Promise<readonly string[]> {
  const { words } = where.asked
  const value = (name: string) => flagValue(words, [name])
  const common: Common = {
    ...defined({ url: value('--url'), context: value('--context'), app: value('--app'), user: value('--user') }),
    autostart: false,
  }
  const place = settingsOf(common).place
  const { token } = keyFor(common, place.origin !== 'project')
  const user = encodeURIComponent(userOf(common))
  const asked = path(user)
  const kept = new KeptAnswers(where.dirs.cache, `${JSON.stringify(place.value)} ${token}`)
  const known = kept.find(asked, '')
  if (known !== undefined) return known.values
  const asker = await askerOf(place.value, token)
  if (asker === undefined) return []
  try {
    const values = idsOf(await asker.get(asked))
    kept.keep(asked, '', { values, isWhole: true })
    return values
  } finally {
    asker.close()
  }
}

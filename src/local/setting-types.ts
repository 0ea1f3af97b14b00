import { parseJson } from '../lib/json/values.js'
import { parseDatabaseAddress } from './database-address.js'
import { parseObjectLocation } from './object-location.js'
import { createIntegerReader, readNonEmptyText, readRecord, readText, toNumber } from './setting-readers.js'

/** Values of single settings, and their readers; `setting-readers.ts` has those of any setting. */

export interface ModelSetting {
  pluginId: string
  provider: string
  model: string
}

/** Names of the quotas in the manifest of a space. */
const QUOTA_NAMES = [
  'maxActiveJobCount',
  'maxActiveSessionCount',
  'maxArtifactBytes',
  'maxEmbeddingTokensPerDay',
  'maxGraphEntityCount',
  'maxGraphRelationCount',
  'maxLlmTokensPerDay',
  'maxNodeCount',
  'maxParserPagesPerDay',
  'maxProjectionCount',
  'maxRawDocumentBytes',
  'maxRerankRequestsPerDay',
  'maxSegmentCount',
  'maxTraceBytes',
] as const

export type QuotaSetting = { [N in (typeof QUOTA_NAMES)[number]]?: number }

export function readListenAddress(value: unknown): string {
  if (!/^(\[[0-9a-f:.%\w]+\]|[^\s:[\]/]+):\d{1,5}$/i.test(readText(value)))
    throw new Error('host:port, as in 127.0.0.1:7733 or [::1]:7733')
  return readText(value)
}

export function readBackend(value: unknown): string {
  parseDatabaseAddress(readText(value))
  return readText(value)
}

export function readObjectLocation(value: unknown): string {
  parseObjectLocation(readText(value))
  return readText(value)
}

export function readPositiveNumber(value: unknown): number {
  const number = toNumber(value)
  if (!(number > 0) || !Number.isFinite(number)) throw new Error('a number above 0')
  return number
}

export function readModel(value: unknown): ModelSetting {
  const rule = 'pluginId/provider/model'
  if (typeof value === 'string') {
    const [pluginId, provider, ...rest] = value.split('/')
    const name = rest.join('/') // names of models may hold slashes
    if (!pluginId || !provider || !name) throw new Error(rule)
    return { pluginId, provider, model: name }
  }
  const fields = readRecord(value, rule)
  const reference = { pluginId: readNonEmptyText(fields.pluginId), provider: readNonEmptyText(fields.provider) }
  return { ...reference, model: readNonEmptyText(fields.model) }
}

export function readQuotas(value: unknown): QuotaSetting {
  const rule = 'an object of quotas (in the environment: as JSON)'
  const fields = readRecord(typeof value === 'string' ? parseJson(value) : value, rule)
  const unknownKey = Object.keys(fields).find((key) => !QUOTA_NAMES.some((name) => name === key))
  if (unknownKey !== undefined) throw new Error(`${rule} without the key ${JSON.stringify(unknownKey)}`)
  const result: QuotaSetting = {}
  for (const name of QUOTA_NAMES) if (fields[name] !== undefined) result[name] = createIntegerReader(1)(fields[name])
  return result
}

import { KsError } from '../../../contract/errors.js'
import { LIMITS } from '../../../contract/limits.js'

export type SyncPolicy = { everyHours: number } | { dailyAt: string[]; utcOffset?: string }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/
/** the maximum offset from UTC on earth is 14 hours */
const OFFSET = /^[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00)$/

/** Parses `metadata.syncPolicy`; undefined where there is none. @throws KsError `invalid-sync-policy` */
export function parseSyncPolicy(metadata: Readonly<Record<string, unknown>>): SyncPolicy | undefined {
  const value = metadata.syncPolicy
  if (value === undefined) return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw policyError('', 'an object', value)
  const fields = new Map<string, unknown>(Object.entries(value))
  const unknownKey = [...fields.keys()].find((key) => !['everyHours', 'dailyAt', 'utcOffset'].includes(key))
  if (unknownKey !== undefined)
    throw policyError('', `without the key ${JSON.stringify(unknownKey.slice(0, 100))}`, value)
  if (fields.has('everyHours') === fields.has('dailyAt')) throw policyError('', 'either everyHours or dailyAt', value)
  return fields.has('everyHours') ? parseEveryHours(fields) : parseDailyAt(fields)
}

function parseEveryHours(fields: Map<string, unknown>): SyncPolicy {
  const hours = fields.get('everyHours')
  if (typeof hours !== 'number' || !Number.isInteger(hours) || hours < 1 || hours > LIMITS.syncEveryHours)
    throw policyError('.everyHours', `an integer between 1 and ${LIMITS.syncEveryHours}`, hours)
  if (fields.has('utcOffset')) throw policyError('.utcOffset', 'absent with everyHours', fields.get('utcOffset'))
  return { everyHours: hours }
}

function parseDailyAt(fields: Map<string, unknown>): SyncPolicy {
  const times: unknown = fields.get('dailyAt')
  const read: string[] = []
  if (!Array.isArray(times) || times.length === 0 || times.length > LIMITS.syncTimesOfDay)
    throw policyError('.dailyAt', `1 to ${LIMITS.syncTimesOfDay} times as HH:MM`, times)
  for (const time of times) {
    if (typeof time !== 'string' || !TIME.test(time)) throw policyError('.dailyAt', 'times as HH:MM', time)
    read.push(time)
  }
  const utcOffset = fields.get('utcOffset')
  if (utcOffset === undefined) return { dailyAt: read }
  if (typeof utcOffset !== 'string' || !OFFSET.test(utcOffset))
    throw policyError('.utcOffset', 'a signed HH:MM of at most 14:00', utcOffset)
  return { dailyAt: read, utcOffset }
}

function policyError(key: string, rule: string, value: unknown): KsError {
  const received = (JSON.stringify(value) ?? 'nothing').slice(0, 200)
  return new KsError('invalid-sync-policy', `metadata.syncPolicy${key} must be ${rule}, received ${received}`)
}

/** The first run after `after`; both in milliseconds since the epoch. */
export function computeNextRun(policy: SyncPolicy, after: number): number {
  if ('everyHours' in policy) return after + policy.everyHours * HOUR_MS
  const offset = parseOffsetMs(policy.utcOffset)
  const today = Math.floor((after + offset) / DAY_MS)
  const times = [today, today + 1].flatMap((day) =>
    policy.dailyAt.map((time) => day * DAY_MS + parseMinutes(time) * MINUTE_MS - offset),
  )
  return Math.min(...times.filter((time) => time > after))
}

/** Limits a planned run to one period from now: after a clock was set back, it would be too far in the future. */
export function limitPlannedRun(policy: SyncPolicy, planned: number, now: number): number {
  const period = 'everyHours' in policy ? policy.everyHours * HOUR_MS : DAY_MS
  return planned > now + period ? computeNextRun(policy, now) : planned
}

function parseOffsetMs(offset: string | undefined): number {
  if (offset === undefined) return 0
  const size = parseMinutes(offset.slice(1)) * MINUTE_MS
  return offset.startsWith('-') ? -size : size
}

function parseMinutes(time: string): number {
  const [hours, minutes] = time.split(':')
  return Number(hours) * 60 + Number(minutes)
}

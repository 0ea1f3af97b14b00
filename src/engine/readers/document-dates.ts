const DAY_MS = 24 * 3600 * 1000
/** No document made by a computer is older: an earlier date comes from a clock that was not set. */
const MIN_DATE_MS = Date.UTC(1970, 0, 2)
/** Clocks differ, and a publication date may be tomorrow; a later date is wrong. */
const MAX_AHEAD_MS = 2 * DAY_MS
const MAX_DATE_LENGTH = 100

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
/** Zone abbreviations of mail (RFC 5322, 4.3), in minutes east of Greenwich. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ['Z', 0],
  ['UT', 0],
  ['UTC', 0],
  ['GMT', 0],
  ['EST', -300],
  ['EDT', -240],
  ['CST', -360],
  ['CDT', -300],
  ['MST', -420],
  ['MDT', -360],
  ['PST', -480],
  ['PDT', -420],
])

const ISO =
  /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?[ ]?(Z|[A-Z]{2,4}|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?$/i
const PDF = /^D?:?(\d{4})(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2}))?)?)?)?(Z|[+-]\d{2}'?(?:\d{2})?'?)?/
const MAIL =
  /^(?:[A-Z]{3,9},?\s+)?(\d{1,2})\.?\s+([A-Z]{3,9})\.?,?\s+(\d{4})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(Z|[+-]\d{4}|[A-Z]{2,4})?)?/i
const AMERICAN = /^(?:[A-Z]{6,9},?\s+)?([A-Z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})/i

/**
 * Parses the date of a document to milliseconds: ISO 8601, PDF, mail, `March 5, 2024`. A date without a zone is in UTC,
 * one without a time is midnight.
 *
 * @param now rejects dates in the future
 * @returns `undefined` for text that is no date and for a date that no document can have
 */
export function parseDocumentDate(text: string, now = Date.now()): number | undefined {
  const time = parseDate(text.trim().slice(0, MAX_DATE_LENGTH))
  return time === undefined || time < MIN_DATE_MS || time > now + MAX_AHEAD_MS ? undefined : time
}

function parseDate(text: string): number | undefined {
  const iso = ISO.exec(text)
  if (iso !== null) return toInstant(iso.slice(1, 7), iso[7])
  const pdf = PDF.exec(text)
  if (pdf !== null) return toInstant(pdf.slice(1, 7), pdf[7]?.replaceAll("'", ''))
  const mail = MAIL.exec(text)
  if (mail !== null) {
    const [, day, month, year, ...time] = mail
    return toInstant([year, toMonthNumber(month), day, ...time.slice(0, 3)], time[3])
  }
  const american = AMERICAN.exec(text)
  return american === null ? undefined : toInstant([american[3], toMonthNumber(american[1]), american[2]], undefined)
}

function toMonthNumber(name: string | undefined): string | undefined {
  const index = MONTHS.indexOf(name?.slice(0, 3).toLowerCase() ?? '')
  return index === -1 ? '0' : String(index + 1)
}

function toInstant(parts: readonly (string | undefined)[], zone: string | undefined): number | undefined {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.map((part) =>
    part === undefined ? undefined : Number(part),
  )
  if (month < 1 || month > 12 || day < 1 || hour > 24 || minute > 59 || second > 60) return undefined
  const midnight = new Date(Date.UTC(year, month - 1, day))
  // Rejects 30 February.
  if (midnight.getUTCMonth() !== month - 1) return undefined
  const offset = parseZoneOffset(zone)
  if (offset === undefined) return undefined
  return midnight.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000
}

/** Minutes east of Greenwich; `undefined` for an impossible offset. */
function parseZoneOffset(zone: string | undefined): number | undefined {
  if (zone === undefined) return 0
  const zoneMinutes = ZONES.get(zone.toUpperCase())
  if (zoneMinutes !== undefined) return zoneMinutes
  const offset = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone)
  // An unknown zone name does not state an offset (RFC 5322, 4.3).
  if (offset === null) return 0
  const minutes = Number(offset[2]) * 60 + Number(offset[3] ?? 0)
  return minutes > 15 * 60 ? undefined : offset[1] === '-' ? -minutes : minutes
}

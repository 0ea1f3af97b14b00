import { findDates, type WrittenDate } from './dates.js'

/** The days of documents that a question asks for: a period (days as `yyyy-mm-dd`, both included), or an order. */
export type RequestedTime = { from: string; to: string } | { order: 'latest' | 'earliest' }

const toWordPattern = (list: string): RegExp =>
  new RegExp(
    `(?<!\\p{L})(?:${list
      .trim()
      .split(/\s*\n\s*/u)
      .join('|')})(?!\\p{L})`,
    'iu',
  )

/** Words that ask for what is valid today, one language per line; Chinese and Japanese have no spaces around them. */
const LATEST = toWordPattern(`
current|currently|latest|newest|most recent|now|nowadays|these days|at the moment|today|so far|up to date|(?:the|our|your|their|this|'s) last(?! \\d)|last (?:meeting|version|update|report|minutes)
aktuell\\p{L}*|derzeit\\p{L}*|momentan\\p{L}*|neue?ste\\p{L}*|jüngste\\p{L}*|letzte[nrsm]?|heute|jetzt
actuel\\p{L}*|en vigueur|derni(?:er|ère)s?|plus récente?s?|maintenant|aujourd['’]hui|en ce moment
actual(?:es|mente)?|vigentes?|últim[oa]s?|más recientes?|ahora|hoy|hoy en día
attual[ei]|attualmente|ultim[oaie]|adesso|oggi
atua(?:l|is|lmente)|agora|hoje|mais recentes?
huidige?|laatste|nieuwste|nu|momenteel
`)
const LATEST_UNSPACED = /现在|現在|目前|最新|当前|當前|最近|如今/u
const EARLIEST = toWordPattern(`
oldest|earliest|originally|at first
älteste[nrsm]?|früheste[nrsm]?|ursprünglich
plus ancien(?:ne)?s?|à l['’]origine
más antigu[oa]s?|originalmente|al principio
`)
const LAST_YEAR = toWordPattern(`
last year
letztes jahr|im letzten jahr|vorige?s jahr
l['’]an dernier|l['’]année dernière
el año pasado
`)

/**
 * Finds the period or order that a question asks for: by a year or month in it, or else by a word of order. A question
 * with two years compares them and selects none.
 *
 * @param now in milliseconds, for `last year`
 */
export function findRequestedTime(question: string, now = Date.now()): RequestedTime | undefined {
  const dated = findDates(question).filter(({ year }) => year !== undefined)
  const [date, other] = dated
  if (date !== undefined) return other === undefined || other.year === date.year ? toPeriod(date) : undefined
  if (LAST_YEAR.test(question)) return toPeriod({ year: new Date(now).getUTCFullYear() - 1 })
  if (LATEST.test(question) || LATEST_UNSPACED.test(question)) return { order: 'latest' }
  return EARLIEST.test(question) ? { order: 'earliest' } : undefined
}

function toPeriod({ year = 0, month, day, quarter }: Partial<WrittenDate>): RequestedTime {
  const last = quarter === undefined ? (month ?? 12) : 3 * quarter
  const first = quarter === undefined ? (month ?? 1) : last - 2
  const lastDay = day ?? new Date(Date.UTC(year, last, 0)).getUTCDate()
  return { from: toDay(year, first, day ?? 1), to: toDay(year, last, lastDay) }
}

function toDay(...[year, ...rest]: number[]): string {
  return [String(year).padStart(4, '0'), ...rest.map((part) => String(part).padStart(2, '0'))].join('-')
}

/** Whether a day (`yyyy-mm-dd` or longer) is in a period. */
export function isWithin(day: string, { from, to }: { from: string; to: string }): boolean {
  const date = day.slice(0, 'yyyy-mm-dd'.length)
  return from <= date && date <= to
}

const OLDER = toWordPattern(`
previously|formerly|used to|originally|at that time|back then|in the past|superseded by|replaced by|no longer valid|obsolete|until (?:it|he|she|they|its|being|1\\d\\d\\d|20\\d\\d)
früher|ehemals|bisher|damals|zuvor|ersetzt durch|abgelöst durch|ungültig|bis (?:1\\d|20)\\d\\d
auparavant|autrefois|jadis|anciennement|remplacée? par
anteriormente|antiguamente|antes era|sustituid[oa] por|reemplazad[oa] por
`)
const NEWER = toWordPattern(`
now|nowadays|from now on|no longer|has since|since then|instead of|with (?:immediate )?effect|as of now|(?:raised|increased|lowered|reduced|extended|cut|shortened|changed) (?:from \\S+ )?to
jetzt|nun|nunmehr|ab sofort|inzwischen|neuerdings|nicht mehr|statt bisher
désormais|dorénavant|maintenant|ne \\p{L}+ plus
ahora|desde ahora|a partir de ahora|ya no
`)
const REPLACES =
  /(?:(?:^|\n|[.!]\s+)\W*|(?<!\p{L})(?:this|these|the (?:new|present|current)|dies\p{L}*|die neue|cette|ce|la présente|esta?|la presente)(?!\p{L})[^.!?\n]{0,80}?\s)(?:replaces|supersedes|ersetzt|remplace|annule et remplace|sustituye|reemplaza)(?!\p{L})(?! durch)/iu
const NEW_EDITION =
  /(?<!\p{L})(?:(?:new|revised|updated|second|third|2nd|3rd) (?:version|edition)|neue fassung|neuauflage|nouvelle (?:version|édition)|nueva (?:versión|edición)|新版|修订版)/iu

/** Whether a statement describes the past (`older`), or what is valid instead of it (`newer`). */
export function findTimeOrder(statement: string): 'older' | 'newer' | undefined {
  if (OLDER.test(statement)) return 'older'
  return NEWER.test(statement) || /改为|改為|即日起/u.test(statement) ? 'newer' : undefined
}

/** Whether a text states that its document replaces another one, or its title names a new edition. */
export function replacesAnother(title: string, text: string): boolean {
  return REPLACES.test(text) || NEW_EDITION.test(title)
}

import type { Block } from './parsed.js'

/** A cover is so many blocks and UTF-16 units at most. */
const COVER_BLOCKS = 60
const COVER_UNITS = 10_000
const BLOCK_UNITS = 2000
const MAX_NAME = 120
const MAX_LINES_UP = 4

const NAME_BELOW = /\(\s*exact name of (?:the )?(?:registrant|company|(?:small business )?issuer)/i
const FORM = /(?:^|\n) ?form\s+(10-?k(?:sb|t)?|10-?q|8-?k|20-?f|40-?f|6-?k)\b(?:\s*\/\s*a\b)?/i
const PERIOD =
  /(?:(?:fiscal year|year|quarterly period|quarter|period) ended|date of report[^:\n]{0,60}[:)])\s*:?\s*(\p{L}{3,9}\.? \d{1,2}, ?(?:19|20)\d\d)/iu
const REGULATOR = /securities and exchange commission/i
/** Who the report is made to stands above all of it. */
const AUTHORITY = /^united states(?: of america)?(?: securities and exchange commission.{0,40})?$/i

/**
 * The title of a report to the US securities regulator, whose cover begins with the regulator's name: who reports, on
 * which form, for which period. Without these its passages say nowhere whose figures they hold.
 */
export function filingTitle(blocks: readonly Block[]): string | undefined {
  const cover = coverOf(blocks)
  const label = NAME_BELOW.exec(cover)
  const form = FORM.exec(cover)?.[1]
  if (label === null || form === undefined) return undefined
  const name = nameAbove(cover.slice(0, label.index))
  if (name === undefined) return undefined
  const period = PERIOD.exec(cover)?.[1]
  const number = form.toUpperCase().replace(/^(\d+)-?/, '$1-')
  return [name, `Form ${number}`, ...(period === undefined ? [] : [period.replace(/\s+/g, ' ')])].join(' · ')
}

/** Whether a title names nothing but whom a report is made to. */
export function isAuthority(title: string, blocks: readonly Block[]): boolean {
  return title.length < 120 && AUTHORITY.test(title.trim()) && REGULATOR.test(coverOf(blocks))
}

function coverOf(blocks: readonly Block[]): string {
  let cover = ''
  for (const { text } of blocks.slice(0, COVER_BLOCKS)) {
    if (cover.length > COVER_UNITS) break
    cover += `${text.slice(0, BLOCK_UNITS).replace(/[^\S\n]+/g, ' ')}\n`
  }
  return cover
}

/** The last line of words before the label that stands below a name. */
function nameAbove(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.replace(/^[\s|_-]+|[\s|_-]+$/g, ''))
  const line = lines
    .filter((one) => one !== '')
    .slice(-MAX_LINES_UP)
    .findLast((one) => /\p{L}{2}/u.test(one))
  if (line === undefined || line.length > MAX_NAME || /commission file|fiscal year|form \d/i.test(line))
    return undefined
  return line
}

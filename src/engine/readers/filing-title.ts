import type { Block } from './parsed.js'

/** Bounds of the cover: blocks and UTF-16 units. */
const MAX_COVER_BLOCKS = 60
const MAX_COVER_UNITS = 10_000
const MAX_BLOCK_UNITS = 2000
const MAX_NAME_LENGTH = 120
const MAX_LINES_ABOVE = 4

const NAME_BELOW = /\(\s*exact name of (?:the )?(?:registrant|company|(?:small business )?issuer)/i
const FORM = /(?:^|\n) ?form\s+(10-?k(?:sb|t)?|10-?q|8-?k|20-?f|40-?f|6-?k)\b(?:\s*\/\s*a\b)?/i
const PERIOD =
  /(?:(?:fiscal year|year|quarterly period|quarter|period) ended|date of report[^:\n]{0,60}[:)])\s*:?\s*(\p{L}{3,9}\.? \d{1,2}, ?(?:19|20)\d\d)/iu
const REGULATOR = /securities and exchange commission/i
/** The recipient of the report, above everything else on the cover. */
const AUTHORITY = /^united states(?: of america)?(?: securities and exchange commission.{0,40})?$/i

/**
 * Builds the title of a report to the US securities regulator from its cover: company, form, period. The cover begins
 * with the name of the regulator; without this title, passages do not state whose figures they contain.
 */
export function buildFilingTitle(blocks: readonly Block[]): string | undefined {
  const cover = readCover(blocks)
  const label = NAME_BELOW.exec(cover)
  const form = FORM.exec(cover)?.[1]
  if (label === null || form === undefined) return undefined
  const name = findNameAbove(cover.slice(0, label.index))
  if (name === undefined) return undefined
  const period = PERIOD.exec(cover)?.[1]
  const number = form.toUpperCase().replace(/^(\d+)-?/, '$1-')
  return [name, `Form ${number}`, ...(period === undefined ? [] : [period.replace(/\s+/g, ' ')])].join(' · ')
}

/** Whether a title only names the recipient of a report. */
export function isRegulatorTitle(title: string, blocks: readonly Block[]): boolean {
  return title.length < 120 && AUTHORITY.test(title.trim()) && REGULATOR.test(readCover(blocks))
}

function readCover(blocks: readonly Block[]): string {
  let cover = ''
  for (const { text } of blocks.slice(0, MAX_COVER_BLOCKS)) {
    if (cover.length > MAX_COVER_UNITS) break
    cover += `${text.slice(0, MAX_BLOCK_UNITS).replace(/[^\S\n]+/g, ' ')}\n`
  }
  return cover
}

/** The last line with letters above the label that follows a name. */
function findNameAbove(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.replace(/^[\s|_-]+|[\s|_-]+$/g, ''))
  const line = lines
    .filter((candidate) => candidate !== '')
    .slice(-MAX_LINES_ABOVE)
    .findLast((candidate) => /\p{L}{2}/u.test(candidate))
  if (line === undefined || line.length > MAX_NAME_LENGTH || /commission file|fiscal year|form \d/i.test(line))
    return undefined
  return line
}

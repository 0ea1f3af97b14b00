import type { DeclaredFields } from '../parsed.js'

/** The information group is near the start of a file, after fonts and styles. */
const SEARCH_LENGTH = 1024 * 1024
const STAMP = /\\(creatim|revtim)((?:\\(?:yr|mo|dy|hr|min|sec)\d{1,4}){3,6})/g

/** Reads the dates of creation and last change from the information group. */
export function readRtfDates(source: string): DeclaredFields {
  const declared: DeclaredFields = {}
  for (const [, kind, words = ''] of source.slice(0, SEARCH_LENGTH).matchAll(STAMP)) {
    const getPart = (name: string): string =>
      new RegExp(`\\\\${name}(\\d{1,4})`).exec(words)?.[1]?.padStart(2, '0') ?? '00'
    const stamp = `${getPart('yr')}-${getPart('mo')}-${getPart('dy')}T${getPart('hr')}:${getPart('min')}`
    if (kind === 'creatim') declared.created ??= stamp
    else declared.modified ??= stamp
  }
  return declared
}

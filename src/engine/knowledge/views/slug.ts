import { createHash } from 'node:crypto'

/** Maximal length of a semantic view's slug. */
const MAX_SLUG_LENGTH = 120

/** Converts a name to a kebab-case slug; a name without Latin letters or digits gets digits of its hash. */
export function toSlug(name: string, prefix: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? `${prefix}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}` : slug
}

/** Finds an unused slug: the plain one, or the one with the first free number. */
export function findFreeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug
  for (let number = 2; ; number++) {
    const suffix = `-${number}`
    const numbered = slug.slice(0, MAX_SLUG_LENGTH - suffix.length) + suffix
    if (!taken.has(numbered)) return numbered
  }
}

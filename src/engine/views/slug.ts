import { createHash } from 'node:crypto'

/** Longest slug of a semantic view. */
const LENGTH = 120

/** A kebab-case slug of a name; a name without Latin letters or digits gets digits of its hash. */
export function slugOf(name: string, prefix: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LENGTH)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? `${prefix}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}` : slug
}

/** A slug that is not taken: the plain one, or the first free number behind it. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug
  for (let number = 2; ; number++) {
    const suffix = `-${number}`
    const numbered = slug.slice(0, LENGTH - suffix.length) + suffix
    if (!taken.has(numbered)) return numbered
  }
}

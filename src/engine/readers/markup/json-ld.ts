import { isRecord, parseJson } from '../../../lib/json/values.js'

const MAX_NODES = 500
const PAGE_TYPE = /(?:Article|Posting|WebPage|Report|CreativeWork|Book|Review)$/
/** Types of pages that consist of one article; a posting of a forum or of a job does not. */
const ARTICLE_TYPE = /(?:Article|BlogPosting|Report)$/

/** A statement of JSON-LD about the page that contains it (schema.org). */
export interface PageStatement {
  node: Record<string, unknown>
  isArticle: boolean
  /** names of its authors */
  authors: string[]
}

/** The statements about the page itself in a script of JSON-LD; none in an invalid one. */
export function readJsonLd(source: string): PageStatement[] {
  const nodes: Record<string, unknown>[] = []
  const pending: unknown[] = [parseScript(source)]
  for (let count = 0; pending.length > 0 && count < MAX_NODES; count++) {
    const node = pending.shift()
    if (Array.isArray(node)) pending.push(...node.slice(0, MAX_NODES))
    if (!isRecord(node)) continue
    nodes.push(node)
    if (Array.isArray(node['@graph'])) pending.push(...node['@graph'].slice(0, MAX_NODES))
  }
  const names = new Map(nodes.map((node) => [node['@id'], node.name]))
  return nodes.flatMap((node) => {
    const types = [node['@type']].flat().filter((type) => typeof type === 'string')
    if (!types.some((type) => PAGE_TYPE.test(type))) return []
    const authors = [node.author, node.creator]
      .map((value) => findNames(value, names))
      .find((found) => found.length > 0)
    return [{ node, isArticle: types.some((type) => ARTICLE_TYPE.test(type)), authors: authors ?? [] }]
  })
}

/** The names of authors: each is a name, an object with one, or a reference to such an object. */
function findNames(value: unknown, names: ReadonlyMap<unknown, unknown>): string[] {
  return [value]
    .flat(2)
    .slice(0, MAX_NODES)
    .flatMap((author) => (isRecord(author) ? [author.name ?? names.get(author['@id'])] : [author]))
    .flat()
    .filter((name) => typeof name === 'string')
}

/** Parses JSON-LD; pages wrap it in CDATA or comments, and break lines within its strings. */
function parseScript(source: string): unknown {
  const bare = source
    .replace(/^\s*(?:\/[/*]\s*)?(?:<!\[CDATA\[|<!--)(?:\s*\*\/)?/, '')
    .replace(/(?:\/[/*]\s*)?(?:\]\]>|-->)(?:\s*\*\/)?[\s;]*$/, '')
  return parseJson(bare) ?? parseJson(bare.replace(/\p{Cc}+/gu, ' '))
}

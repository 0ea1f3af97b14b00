import { posix } from 'node:path'

/** The main part of an Office Open XML package, which its relationships name. */
export interface MainPart {
  name: string
  /** Declared content type; empty without one. */
  contentType: string
}

/** Types of the relationship to the main part: transitional, strict, and that of Visio. */
const MAIN_RELATION = /\/relationships\/(?:officeDocument|document)$/
/** Relationships and types have some hundred bytes each. */
const MAX_TAGS = 20_000

/**
 * Finds the main part of a package (ISO/IEC 29500-2, 9.3 and 10.1) by the relationships of the package.
 *
 * @param readText returns the text of a part, undefined when there is none
 */
export function findMainPart(readText: (name: string) => string | undefined): MainPart | undefined {
  for (const attributes of listTags(readText('_rels/.rels') ?? '', 'Relationship')) {
    const target = attributes.get('Target')
    if (target === undefined || !MAIN_RELATION.test(attributes.get('Type') ?? '')) continue
    const name = posix.normalize(target.replaceAll('\\', '/')).replace(/^\/+/, '')
    return { name, contentType: findContentType(readText('[Content_Types].xml') ?? '', name) }
  }
  return undefined
}

function findContentType(types: string, name: string): string {
  const part = `/${name}`.toLowerCase()
  for (const attributes of listTags(types, 'Override'))
    if (attributes.get('PartName')?.toLowerCase() === part) return attributes.get('ContentType') ?? ''
  return ''
}

/** The attributes of all tags with a local name. References in values are not decoded: names of parts have none. */
function* listTags(xml: string, tag: string): Generator<Map<string, string>> {
  let count = 0
  for (const [, name, text = ''] of xml.matchAll(/<(?:[\w.-]{1,40}:)?(\w{1,40})\s([^<>]{1,4000})>/g)) {
    if (name !== tag) continue
    if (++count > MAX_TAGS) return
    const pairs = text.matchAll(/([\w:.-]{1,80})\s*=\s*(?:"([^"]*)"|'([^']*)')/g)
    yield new Map([...pairs].map(([, key = '', quoted, apostrophes]) => [key, quoted ?? apostrophes ?? '']))
  }
}

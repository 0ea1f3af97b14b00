import { posix } from 'node:path'

/** Types of the relationship to the main part: transitional, strict, and that of Visio. */
const MAIN_RELATION = /\/relationships\/(?:officeDocument|document)$/
/** Relationships and types have some hundred bytes each. */
const MAX_TAGS = 20_000

/** The name of the main part of an Office Open XML package (ISO/IEC 29500-2, 10.1). @param relations of the package */
export function findMainPart(relations: string): string | undefined {
  for (const attributes of listTags(relations, 'Relationship')) {
    const target = attributes.get('Target')
    if (target === undefined || !MAIN_RELATION.test(attributes.get('Type') ?? '')) continue
    return posix.normalize(target.replaceAll('\\', '/')).replace(/^\/+/, '')
  }
  return undefined
}

/** The content type of a part; empty without one. @param types the part `[Content_Types].xml` */
export function findContentType(types: string, name: string): string {
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

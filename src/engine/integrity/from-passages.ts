import { defined } from '../../lib/defined.js'
import type { CompiledElement, CompiledOutlineNode } from '../parse/compiled.js'
import type { StoredArtifact } from '../parse/stored.js'
import type { StoredNode } from '../rows/integrity/nodes.js'
import { pack } from '../storage/packed.js'
import { fromCell, unlessDamaged } from '../storage/readable.js'
import type { ReadVersion } from './artifacts.js'

interface Part<T> {
  value: T
  packed: Uint8Array
}

/**
 * Rebuilds an artifact and an outline from passages, where the bytes of a document are lost. Passages know their text,
 * offsets, elements and sections, so offsets and ids do not change; text outside of passages becomes spaces.
 */
export async function fromPassages(
  title: string,
  nodes: StoredNode[],
  read: ReadVersion,
): Promise<{ artifact: Part<StoredArtifact>; outline: Part<CompiledOutlineNode[]> }> {
  const artifact = read.artifact ?? { text: textOf(nodes), elements: nodes.flatMap(elementsOf) }
  const outline = read.outline ?? outlineOf(title, nodes)
  return {
    artifact: { value: artifact, packed: await pack(artifact) },
    outline: { value: outline, packed: await pack(outline) },
  }
}

function textOf(nodes: StoredNode[]): string {
  const end = Math.max(...nodes.map((node) => node.end_offset))
  let text = ' '.repeat(end)
  for (const { text: body, start_offset: start, end_offset: stop } of nodes) {
    // a passage of a split table repeats the header before its own rows
    const own = body.slice(body.length - (stop - start))
    text = text.slice(0, start) + own + text.slice(start + own.length)
  }
  return text
}

/** Elements of a passage: the first contains its text, all keep their ids, so that references to them stay valid. */
function elementsOf(node: StoredNode): CompiledElement[] {
  const ids = unlessDamaged(() => fromCell<unknown>(node.elements))
  const sectionPath = strings(node.section)
  return (Array.isArray(ids) ? ids : []).flatMap((id, place): CompiledElement[] => {
    if (typeof id !== 'string') return []
    const position = { startOffset: node.start_offset, endOffset: place === 0 ? node.end_offset : node.start_offset }
    return [
      {
        id,
        type: node.kind === 'table' || node.kind === 'code' || node.kind === 'list' ? node.kind : 'paragraph',
        text: place === 0 ? node.text : '',
        ...defined({ pageNumber: node.page ?? undefined }),
        sectionPath,
        metadata: position,
      },
    ]
  })
}

/** Sections from the ids and paths of passages; a parent without passages gets its title from the path. */
function outlineOf(title: string, nodes: StoredNode[]): CompiledOutlineNode[] {
  const sections = new Map<string, CompiledOutlineNode>()
  const roots: CompiledOutlineNode[] = []
  const sectionOf = (id: string, path: string[]): CompiledOutlineNode => {
    const known = sections.get(id)
    if (known !== undefined) return known
    const level = id.split('.').length
    const made: CompiledOutlineNode = {
      id,
      title: path[level - 1] ?? path.at(-1) ?? title,
      level,
      tocSource: level === 1 ? 'document' : 'heading',
      sectionPath: path.slice(0, level),
      children: [],
      sourceElementIds: [],
    }
    sections.set(id, made)
    if (level === 1) roots.push(made)
    else sectionOf(id.slice(0, id.lastIndexOf('.')), path).children.push(made)
    return made
  }
  for (const node of nodes) {
    const section = sectionOf(node.outline_node, strings(node.section))
    for (const id of strings(node.elements))
      if (!section.sourceElementIds.includes(id)) section.sourceElementIds.push(id)
    section.startOffset = Math.min(section.startOffset ?? node.start_offset, node.start_offset)
    section.endOffset = Math.max(section.endOffset ?? node.end_offset, node.end_offset)
  }
  return roots
}

function strings(json: string): string[] {
  const value = unlessDamaged(() => fromCell<unknown>(json))
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}

import type { ToolDefinition } from '../tool.js'
import { ask } from './ask.js'
import { find, grep, list, tree } from './browse.js'
import { graph } from './graph.js'
import { ingest, refresh } from './ingest.js'
import { outline } from './outline.js'
import { read } from './read.js'
import { research, researchCancel, researchStatus } from './research.js'
import { search } from './search.js'
import { spaces } from './spaces.js'
import { move, remove, write } from './workspace.js'

/** In the order in which they are listed: what is used most comes first. */
export const TOOLS: readonly ToolDefinition[] = [
  search,
  ask,
  read,
  spaces,
  list,
  tree,
  find,
  grep,
  outline,
  graph,
  research,
  researchStatus,
  researchCancel,
  write,
  move,
  remove,
  ingest,
  refresh,
]

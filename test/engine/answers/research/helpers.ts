import type { CreateResearchBody, ResearchTaskJob } from '../../../../src/contract/gateway/research.js'
import type { Caller, Engine } from '../../../../src/engine/index.js'
import { ADA, ingest } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

export const FILES = {
  'tides.md':
    '# Tides\n\nThe moon pulls the sea and makes the tides.\n\n## Spring tides\n\nSpring tides are highest when sun and moon stand in one line with the earth.\n\n## Measuring\n\nThe harbour of Brest has measured its tides since 1711 with a gauge in the old basin.\n',
  'lighthouses.md':
    '# Lighthouses\n\nThe lighthouse of Eckmuhl is 60 metres high.\n\n## Lamps\n\nAugustin Fresnel invented the stepped lens of lighthouses in 1823.\n\n## Keepers\n\nThe last keeper left the lighthouse of Kereon in 2004.\n',
  'ships.md':
    '# Ships\n\nA clipper carried tea from China to London.\n\n## Speed\n\nThe clipper Cutty Sark reached a speed of 17 knots.\n',
}
export const TWO_PART = 'What makes the tides and who invented the stepped lens of lighthouses?'

export async function spaceWith(engine: Engine, files: Record<string, string> = FILES, caller: Caller = ADA) {
  const { id } = await engine.spaces.create(caller, { name: 'Sea', slug: `sea-${Math.random().toString(36).slice(2)}` })
  await ingest(engine, caller, id, files)
  return id
}

export async function untilTaskEnded(engine: Engine, id: string, caller: Caller = ADA): Promise<ResearchTaskJob> {
  await until(async () => (await engine.research.get(caller, id)).completedAt !== undefined)
  return engine.research.get(caller, id)
}

export async function research(
  engine: Engine,
  knowledgeSpaceId: string,
  body: Partial<CreateResearchBody> = {},
): Promise<ResearchTaskJob> {
  const task = await engine.research.create(ADA, { knowledgeSpaceId, query: TWO_PART, ...body })
  return untilTaskEnded(engine, task.id)
}

/** The events of a task up to its end, over as many streams as the limit requires. */
export async function eventsOf(engine: Engine, id: string, limit = 100, caller: Caller = ADA) {
  const events: { id: string; event: string; data: unknown }[] = []
  for (;;) {
    const before = events.length
    const cursor = events.at(-1)?.id
    const page = { limit, cursor }
    for await (const frame of await engine.research.events(caller, id, page, new AbortController().signal))
      events.push(frame)
    if (events.length === before || events.length - before < limit) return events
  }
}

const FILLER =
  'The keeper writes the weather into the book every evening, and the boat brings bread and oil when the sea allows it. '

/** A long document whose sections become separate passages, so that a search sees only some of them. */
export const LONG_DOCUMENT = `# Lighthouses of the west\n\n${[
  'Keepers of Kereon',
  'Keepers of Eckmuhl',
  'Keepers of Ar Men',
  'Keepers of Sein',
  'Lamps of Kereon',
  'Lamps of Eckmuhl',
  'Lamps of Sein',
  'Lamps of Tevennec',
  'Lenses of Ar Men',
  'Boats of Ar Men',
  'Boats of Kereon',
]
  .map(
    (title, place) =>
      `## ${title}\n\n${`${FILLER}Of ${title.toLowerCase()} number ${place} is told here. `.repeat(12)}`,
  )
  .join('\n\n')}\n`
/** Questions that the document leaves open, though its headings suggest an answer. */
export const UNANSWERED_QUESTIONS = 'What salary did the keepers receive? How bright were the lamps in candela?'
/** A question that it answers. */
export const ANSWERED_QUESTION = 'What does the keeper write into the book every evening?'

/** Prices too small to exceed any budget. */
export const CHEAP_PRICES = { '*': { inputUsdPerMillion: 0.1, outputUsdPerMillion: 0.1 } }

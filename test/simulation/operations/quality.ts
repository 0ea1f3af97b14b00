import type { GoldenQuestion } from '../../../src/contract/gateway/golden-questions.js'
import { Register, type Span } from '../history.js'
import type { SentQuestion, SpaceModel } from '../model.js'
import {
  allPages,
  type Context,
  choose,
  describe,
  diverge,
  expectRefusal,
  expectThere,
  type Operation,
  pick,
  pickSpace,
} from './context.js'

/** Adds a golden question; repeated until it is acknowledged, so that it must exist exactly once. */
const addQuestion: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const text = `What did ${session.tenant.marker} ask in step ${step.number}?`
  const tag = `t${step.number}`
  const question: SentQuestion = { text, id: undefined, isThere: new Register(false), tags: new Register(tag) }
  space.questions.set(text, question)
  const begun = question.isThere.begin(true, session.world.moments.next())
  const outcome = await session.write(
    step,
    'POST /knowledge-spaces/{id}/golden-questions',
    { path: { id: space.id }, body: { question: text, tags: [tag], expectedEvidenceIds: [], metadata: {} } },
    { always: true },
  )
  if (outcome.kind === 'done') {
    question.id = outcome.value.id
    question.isThere.done(begun, outcome.to)
  } else if (outcome.kind === 'refused') {
    question.isThere.refused(begun)
    expectRefusal(context, space, outcome)
  }
}

function pickQuestion({ step }: Context, space: SpaceModel): (SentQuestion & { id: string }) | undefined {
  const known = [...space.questions.values()].filter((question) => question.id !== undefined)
  const found = choose(known, pick(step, 2))
  return found?.id === undefined ? undefined : Object.assign(found, { id: found.id })
}

const changeQuestion: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const question = pickQuestion(context, space)
  if (question === undefined) return
  const tag = `t${step.number}`
  const begun = question.tags.begin(tag, session.world.moments.next())
  const outcome = await session.write(step, 'PATCH /knowledge-spaces/{id}/golden-questions/{questionId}', {
    path: { id: space.id, questionId: question.id },
    body: { tags: [tag] },
  })
  if (outcome.kind === 'done') return question.tags.done(begun, outcome.to)
  if (outcome.kind === 'lost') return question.tags.lost(begun, outcome.to)
  // With a key, the first request may have changed it before it was deleted and requested again.
  if (step.key === undefined) question.tags.refused(begun)
  expectRefusal(context, space, outcome, question.isThere.allows(false, outcome) ? [404] : [])
}

const annotate: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const question = pickQuestion(context, space)
  if (question === undefined) return
  const outcome = await session.write(step, 'POST /knowledge-spaces/{id}/golden-questions/{questionId}/annotations', {
    path: { id: space.id, questionId: question.id },
    body: { answerCorrectness: 'correct', evidenceRelevance: [], note: `${session.tenant.marker} ${step.number}` },
  })
  if (outcome.kind === 'refused')
    expectRefusal(context, space, outcome, question.isThere.allows(false, outcome) ? [404] : [])
}

const removeQuestion: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const question = pickQuestion(context, space)
  if (question === undefined) return
  const begun = question.isThere.begin(false, session.world.moments.next())
  const outcome = await session.write(step, 'DELETE /knowledge-spaces/{id}/golden-questions/{questionId}', {
    path: { id: space.id, questionId: question.id },
  })
  if (outcome.kind === 'lost') return question.isThere.lost(begun, outcome.to)
  // 404 also shows that it is deleted.
  if (outcome.kind === 'done' || outcome.status === 404) return question.isThere.done(begun, outcome.to)
  question.isThere.refused(begun)
  expectRefusal(context, space, outcome)
}

const listQuestions: Operation = async (context) => checkQuestions(context, pickSpace(context))

/** Lists all golden questions page by page and compares them with those that were added. */
export async function checkQuestions(context: Context, space: SpaceModel): Promise<void> {
  const { session, step } = context
  const { moments } = session.world
  const known = [...space.questions.values()]
  const from = moments.next()
  const items = await allPages<GoldenQuestion>(async (cursor) => {
    const query = { limit: 3, ...(cursor === undefined ? {} : { cursor }) }
    const page = await session.read(step, 'GET /knowledge-spaces/{id}/golden-questions', {
      path: { id: space.id },
      query,
    })
    return page.kind === 'done' ? page.value : page
  })
  const span = { from, to: moments.next() }
  if (!Array.isArray(items)) return expectRefusal(context, space, items)
  const found = new Set<string>()
  for (const { question, tags } of items) {
    if (found.has(question)) diverge(context, `${question} once`, 'it is there twice')
    found.add(question)
    const sent = space.questions.get(question)
    if (sent === undefined) diverge(context, 'only questions that were added', question)
    else if (!sent.tags.allows(tags[0] ?? '', span))
      diverge(context, `${question} with ${sent.tags.possible(span).join(' or ')}`, tags.join())
  }
  if (space.mayBeGone(span)) return
  for (const { text, isThere } of known) expectThere(context, text, isThere.possible(span), found.has(text), span)
}

/** Sends a query, and creates a golden question from it. */
const badCase: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const asked = `Where did ${session.tenant.marker} go in step ${step.number}?`
  const stream = await session.events(step, { knowledgeSpaceId: space.id, query: asked, mode: 'fast' })
  const traceId = /event: answer\.done\ndata: .*"traceId":"([0-9a-f-]+)"/.exec(stream?.text ?? '')?.[1]
  if (traceId === undefined) return
  // A trace is hidden with any document that its evidence cites.
  const cited = [
    ...new Set([...(stream?.text ?? '').matchAll(/"documentAssetId":"([0-9a-f-]+)"/g)].map(([, id]) => id)),
  ]
  const mayBeHidden = (span: Span) =>
    cited.some(
      (id) =>
        space
          .documentOf(id ?? '')
          ?.lives.get(id ?? '')
          ?.allows(false, span) !== false,
    )
  const trace = await session.read(step, 'GET /queries/{traceId}', { path: { traceId } })
  if (trace.kind === 'refused' && !space.mayBeGone(trace) && !mayBeHidden(trace))
    diverge(context, `the trace ${traceId}, whose answer was done`, describe(trace))
  const question: SentQuestion = { text: asked, id: undefined, isThere: new Register(false), tags: new Register('bad') }
  space.questions.set(asked, question)
  const begun = question.isThere.begin(true, session.world.moments.next())
  const outcome = await session.write(
    step,
    'POST /knowledge-spaces/{id}/production-bad-cases',
    { path: { id: space.id }, body: { traceId, tags: ['bad'] } },
    { always: true },
  )
  if (outcome.kind === 'done') {
    const [tag = ''] = outcome.value.tags
    question.tags = new Register(tag)
    question.id = outcome.value.id
    question.isThere.done(begun, outcome.to)
  } else if (outcome.kind === 'refused') {
    question.isThere.refused(begun)
    expectRefusal(context, space, outcome, mayBeHidden(outcome) ? [404] : [])
  }
}

export const qualityOperations = { addQuestion, changeQuestion, annotate, removeQuestion, listQuestions, badCase }

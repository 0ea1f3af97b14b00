import { Register } from '../history.js'
import type { SentSource, SpaceModel } from '../model.js'
import {
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

/** A unique number of days, far longer than a run. */
const daysOf = ({ step }: Context) => 1000 + step.number

const changeRetention: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const answerTraceRetentionDays = daysOf(context)
  const begun = space.traceDays.begin(answerTraceRetentionDays, session.world.moments.next())
  const outcome = await session.write(step, 'PATCH /knowledge-spaces/{id}/retention-policy', {
    path: { id: space.id },
    body: { answerTraceRetentionDays },
  })
  if (outcome.kind === 'done') return space.traceDays.done(begun, outcome.to)
  if (outcome.kind === 'lost') return space.traceDays.lost(begun, outcome.to)
  if (step.key === undefined) space.traceDays.refused(begun)
  expectRefusal(context, space, outcome)
}

const changeProfile: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  // A unique number, too small to exclude anything.
  const scoreThreshold = (step.number + 1) / 1e6
  const begun = space.scoreThreshold.begin(scoreThreshold, session.world.moments.next())
  const outcome = await session.write(step, 'PUT /knowledge-spaces/{id}/retrieval-profile', {
    path: { id: space.id },
    body: { defaultMode: 'fast', modes: ['fast', 'deep'], topK: 10, scoreThreshold, rerank: { enabled: true } },
  })
  if (outcome.kind === 'done') {
    space.scoreThreshold.done(begun, outcome.to)
    const { revision } = outcome.value
    if (space.profileRevisions.has(revision)) diverge(context, 'a revision of its own', `${revision} again`)
    space.profileRevisions.add(revision)
  } else if (outcome.kind === 'lost') space.scoreThreshold.lost(begun, outcome.to)
  else {
    if (step.key === undefined) space.scoreThreshold.refused(begun)
    expectRefusal(context, space, outcome)
  }
}

const readSettings: Operation = async (context) => checkSettings(context, pickSpace(context))

/** Reads the policy and the profile of a space and compares them; before the first change they have their defaults. */
export async function checkSettings(context: Context, space: SpaceModel): Promise<void> {
  const { session, step } = context
  const path = { id: space.id }
  const policy = await session.read(step, 'GET /knowledge-spaces/{id}/retention-policy', { path })
  if (policy.kind === 'refused') return expectRefusal(context, space, policy)
  const days = space.traceDays.possible(policy)
  const { answerTraceRetentionDays } = policy.value
  if (!days.includes(0) && !days.includes(answerTraceRetentionDays))
    diverge(context, `${days.join(' or ')} days`, String(answerTraceRetentionDays))
  space.traceDays.seen(answerTraceRetentionDays, policy)
  const profile = await session.read(step, 'GET /knowledge-spaces/{id}/retrieval-profile', { path })
  if (profile.kind === 'refused') return expectRefusal(context, space, profile)
  const thresholds = space.scoreThreshold.possible(profile)
  const { scoreThreshold } = profile.value
  if (!thresholds.includes(-1) && !thresholds.includes(scoreThreshold))
    diverge(context, `the threshold ${thresholds.join(' or ')}`, String(scoreThreshold))
  space.scoreThreshold.seen(scoreThreshold, profile)
}

const addSource: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const name = `${session.tenant.marker} ${step.number}`
  const source: SentSource = {
    name,
    id: undefined,
    isThere: new Register(false),
    title: new Register(name),
    versions: new Set(),
  }
  space.sources.set(name, source)
  const begun = source.isThere.begin(true, session.world.moments.next())
  const outcome = await session.write(
    step,
    'POST /knowledge-spaces/{id}/sources',
    {
      path: { id: space.id },
      body: { name, type: 'upload', uri: `upload:${step.number}`, permissionScope: [], metadata: {} },
    },
    { always: true },
  )
  if (outcome.kind === 'done') {
    source.id = outcome.value.id
    source.isThere.done(begun, outcome.to)
  } else if (outcome.kind === 'refused') {
    source.isThere.refused(begun)
    expectRefusal(context, space, outcome)
  }
}

function pickSource({ step }: Context, space: SpaceModel): { source: SentSource; sourceId: string } | undefined {
  const known = [...space.sources.values()].flatMap((source) =>
    source.id === undefined ? [] : [{ source, sourceId: source.id }],
  )
  return choose(known, pick(step, 2))
}

/** Reads a source and changes the version that it read: of several concurrent changes at most one succeeds. */
const changeSource: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const picked = pickSource(context, space)
  if (picked === undefined) return
  const { source, sourceId } = picked
  const expectedVersion = await readSource(context, space, source, sourceId)
  if (expectedVersion === undefined) return
  const name = `${session.tenant.marker} ${step.number}`
  const begun = source.title.begin(name, session.world.moments.next())
  const outcome = await session.write(step, 'PATCH /knowledge-spaces/{id}/sources/{sourceId}', {
    path: { id: space.id, sourceId },
    body: { name, expectedVersion },
  })
  if (outcome.kind === 'done') {
    source.title.done(begun, outcome.to)
    const { version } = outcome.value
    if (version !== expectedVersion + 1) diverge(context, `version ${expectedVersion + 1}`, String(version))
    if (source.versions.has(version)) diverge(context, 'one winner of a version', `${version} twice`)
    source.versions.add(version)
  } else if (outcome.kind === 'lost') source.title.lost(begun, outcome.to)
  else {
    // With a key, the first request may have succeeded although its response was lost.
    if (step.key === undefined) source.title.refused(begun)
    else source.title.lost(begun, outcome.to)
    expectRefusal(context, space, outcome, [
      'version-mismatch',
      ...(source.isThere.allows(false, outcome) ? [404] : []),
    ])
  }
}

/** @returns the current version */
async function readSource(context: Context, space: SpaceModel, source: SentSource, sourceId: string) {
  const { session, step } = context
  const path = { id: space.id, sourceId }
  const answer = await session.read(step, 'GET /knowledge-spaces/{id}/sources/{sourceId}', { path })
  const isThere = answer.kind === 'done'
  if (!isThere && (answer.status !== 404 || space.mayBeGone(answer))) {
    expectRefusal(context, space, answer)
    return undefined
  }
  expectThere(context, `the source ${source.name}`, source.isThere.possible(answer), isThere, answer)
  if (!isThere) return undefined
  const { name, version } = answer.value
  if (source.title.allows(name, answer)) source.title.seen(name, answer)
  else diverge(context, `a source named ${source.title.possible(answer).join(' or ')}`, name)
  return version
}

const removeSource: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const picked = pickSource(context, space)
  if (picked === undefined) return
  const { source, sourceId } = picked
  const begun = source.isThere.begin(false, session.world.moments.next())
  const outcome = await session.write(step, 'DELETE /knowledge-spaces/{id}/sources/{sourceId}', {
    path: { id: space.id, sourceId },
    query: {},
  })
  if (outcome.kind === 'lost') return source.isThere.lost(begun, outcome.to)
  if (outcome.kind === 'done' || outcome.status === 404) return source.isThere.done(begun, outcome.to)
  source.isThere.refused(begun)
  expectRefusal(context, space, outcome)
}

/** Every source that was added exists once, unless it was removed. */
export async function checkSources(context: Context, space: SpaceModel): Promise<void> {
  const { session, step } = context
  const answer = await session.read(step, 'GET /knowledge-spaces/{id}/sources', {
    path: { id: space.id },
    query: { limit: 200 },
  })
  if (answer.kind === 'refused') return diverge(context, 'the sources', describe(answer))
  const found = answer.value.items.map(({ uri }) => uri)
  for (const uri of new Set(found.filter((one, place) => found.indexOf(one) !== place)))
    diverge(context, `the source ${uri} once`, 'it is there twice')
  for (const source of space.sources.values())
    if (source.id !== undefined) await readSource(context, space, source, source.id)
}

export const settingOperations = { changeRetention, changeProfile, readSettings, addSource, changeSource, removeSource }

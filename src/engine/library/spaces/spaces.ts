import { KsError } from '../../../contract/errors.js'
import type {
  CreateSpaceBody,
  EmbeddingProfile,
  KnowledgeSpace,
  KnowledgeSpaceManifest,
  UpdateSpaceBody,
} from '../../../contract/gateway/spaces.js'
import { LIMITS } from '../../../contract/limits.js'
import { newId } from '../../../lib/ids.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { ModelReference } from '../../base/model-reference.js'
import type { Page, PageRequest } from '../../base/page.js'
import { BUILTIN_EMBEDDING, isBuiltin } from '../../models/index.js'
import type { Driver } from '../../store/driver.js'
import type { Read, Write } from '../../store/program.js'
import { readablePage } from '../../store/readable.js'
import {
  countSpaces,
  findSpaceBySlug,
  hasDocuments,
  hideSpace,
  insertSpace,
  listSpacesAfter,
  renameSpace,
  setEmbeddingModel,
} from '../../store/rows/space-changes.js'
import { findSpace, toSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import type { EngineContext } from '../context.js'
import { DEFAULT_POLICIES, toEmbeddingProfile, toManifest } from './manifest.js'
import { getQuotas } from './quota.js'
import { getRetentionRules } from './retention-policy.js'

export async function createSpace(
  context: EngineContext,
  caller: Caller,
  body: CreateSpaceBody,
): Promise<KnowledgeSpace> {
  const { db } = context
  const model = body.embeddingProfile ?? context.options.defaultEmbedding
  assertEmbeddingModel(context, model)
  return writeReply(db, caller, function* () {
    const { spacesPerTenant } = context.options.limits
    if ((yield* countSpaces(caller.tenant)) >= spacesPerTenant)
      throw new KsError('capacity-exceeded', `a tenant holds at most ${spacesPerTenant} knowledge spaces`)
    yield* assertSlugFree(caller.tenant, body.slug, undefined)
    const id = newId()
    const { name, slug, description } = body
    const fields = { id, tenant: caller.tenant, name, slug, description }
    yield* insertSpace({ ...fields, policies: DEFAULT_POLICIES, model })
    return toSpace(yield* findSpace(caller.tenant, id))
  })
}

export function* listSpaces(caller: Caller, page: PageRequest): Read<Page<KnowledgeSpace>> {
  const filter = hashFilter('spaces', caller.tenant)
  const after = page.cursor === undefined ? '' : String(decodeCursor(page.cursor, filter).after[0] ?? '')
  const limit = Math.min(page.limit, LIMITS.page.cap)
  const rows = yield* listSpacesAfter(caller.tenant, after, limit + 1)
  return readablePage(rows, limit, toSpace, ({ id }) => encodeCursor({ after: [id] }, filter))
}

export function* getSpace({ tenant }: Caller, id: string): Read<KnowledgeSpace> {
  return toSpace(yield* findSpace(tenant, id))
}

export async function updateSpace(
  db: Driver,
  caller: Caller,
  id: string,
  body: UpdateSpaceBody,
): Promise<KnowledgeSpace> {
  const update = function* (): Write<KnowledgeSpace> {
    const row = yield* findSpace(caller.tenant, id)
    if (body.slug !== undefined) yield* assertSlugFree(caller.tenant, body.slug, row.key)
    const fields = {
      name: body.name ?? row.name,
      slug: body.slug ?? row.slug,
      description: body.description ?? row.description,
    }
    yield* renameSpace({ key: row.key, ...fields })
    return toSpace(yield* findSpace(caller.tenant, id))
  }
  return writeReply(db, caller, update, { lock: { tenant: caller.tenant, id } })
}

/** Hides the space from every read at once; its rows and files are purged in the background. */
export async function deleteSpace(context: EngineContext, caller: Caller, id: string): Promise<void> {
  const { db } = context
  const hide = function* (): Write<void> {
    const row = yield* findSpace(caller.tenant, id)
    yield* hideSpace(row.key)
  }
  await writeReply(db, caller, hide, { lock: { tenant: caller.tenant, id } })
  context.wake()
  context.changes.report(caller.tenant, id)
}

export function* getSpaceManifest(context: EngineContext, caller: Caller, id: string): Read<KnowledgeSpaceManifest> {
  const space = yield* findSpace(caller.tenant, id)
  const manifest = toManifest(space)
  // the effective rules, not the initial ones
  const rules = yield* getRetentionRules(space.key)
  return {
    ...manifest,
    quotaPolicy: getQuotas(context, space),
    retentionPolicy: {
      ...manifest.retentionPolicy,
      artifactVersionsToKeep: rules.parseArtifactVersions,
      traceRetentionDays: rules.answerTraceRetentionDays,
    },
  }
}

export async function setEmbeddingProfile(
  context: EngineContext,
  caller: Caller,
  id: string,
  model: ModelReference,
): Promise<EmbeddingProfile> {
  const { db } = context
  const set = function* (): Write<EmbeddingProfile> {
    const row = yield* findSpace(caller.tenant, id)
    if (row.frozen_at !== null || (yield* hasDocuments(row.key)))
      throw new KsError(
        'embedding-frozen',
        `the embedding profile of ${JSON.stringify(row.slug)} is frozen since ${new Date(row.frozen_at ?? row.updated_at).toISOString()}: documents were ingested with it; POST /knowledge-spaces/${row.id}/embedding-profile/migrations reindexes them for another model and publishes that`,
      )
    assertEmbeddingModel(context, model)
    yield* setEmbeddingModel(row.key, model)
    return toEmbeddingProfile(yield* findSpace(caller.tenant, id))
  }
  return writeReply(db, caller, set, { lock: { tenant: caller.tenant, id } })
}

/** @throws KsError `provider-not-configured` when this daemon has no such model */
export function assertEmbeddingModel(context: EngineContext, model: ModelReference): void {
  if (isBuiltin(model)) {
    if (model.provider === BUILTIN_EMBEDDING.provider && model.model === BUILTIN_EMBEDDING.model) return
    throw new KsError(
      'provider-not-configured',
      `there is no built-in embedding ${model.provider}/${model.model} on this daemon`,
    )
  }
  if (!context.models.has(model, 'embedding'))
    throw new KsError(
      'provider-not-configured',
      `this daemon has no embedding provider ${model.pluginId}/${model.provider}`,
    )
}

function* assertSlugFree(tenant: string, slug: string, exceptKey: number | undefined): Read<void> {
  const holder = yield* findSpaceBySlug(tenant, slug)
  if (holder !== undefined && holder.key !== exceptKey)
    throw new KsError('slug-taken', `slug ${JSON.stringify(slug)} is already used by space ${holder.id}`)
}

import type { FormEvent } from 'react'
import type { RetentionPolicy } from '../../../contract/gateway/retention.js'
import type { QuotaPolicy } from '../../../contract/gateway/spaces.js'
import { useRead, useWrite } from '../../api/use.js'
import { formatBytes, formatCount } from '../../ui/format.js'
import { Facts, FormEnd, NumberField, Panel } from '../../ui/parts.js'
import { Loaded } from '../../ui/state.js'
import { say } from '../../ui/toast.js'

const RULES = [
  { name: 'answerTraceRetentionDays', label: 'Traces of answers', unit: 'days' },
  { name: 'evidenceCacheRetentionDays', label: 'Cached evidence', unit: 'days' },
  { name: 'inactiveProjectionRetentionDays', label: 'Inactive projections', unit: 'days' },
  { name: 'parseArtifactVersions', label: 'Parsed versions of a document', unit: 'versions' },
  { name: 'rawDocumentRetentionDays', label: 'Original documents', unit: 'days' },
  { name: 'sessionInactivityMinutes', label: 'Inactive sessions', unit: 'minutes' },
] as const
const NEVER = 'rawDocumentRetentionDays'

/** Tab of retention policies and quotas. */
export function Keeping({ spaceId }: { spaceId: string }) {
  return (
    <div className="stack">
      <OfSpace spaceId={spaceId} />
      <OfTenant />
      <Quotas spaceId={spaceId} />
    </div>
  )
}

function OfSpace({ spaceId }: { spaceId: string }) {
  const path = { id: spaceId }
  const policy = useRead('GET /knowledge-spaces/{id}/retention-policy', { path })
  const update = useWrite('PATCH /knowledge-spaces/{id}/retention-policy', [
    'GET /knowledge-spaces/{id}/retention-policy',
  ])
  return (
    <Panel title="Retention of this space">
      <Loaded of={policy}>
        {(now) => (
          <PolicyForm
            key={now.updatedAt}
            policy={now}
            update={update}
            save={(body) => update.mutate({ path, body }, told)}
          />
        )}
      </Loaded>
    </Panel>
  )
}

function OfTenant() {
  const policy = useRead('GET /retention-policy', {})
  const update = useWrite('PATCH /retention-policy', [
    'GET /retention-policy',
    'GET /knowledge-spaces/{id}/retention-policy',
  ])
  return (
    <Panel title="Default retention of all spaces">
      <Loaded of={policy}>
        {(now) => (
          <PolicyForm key={now.updatedAt} policy={now} update={update} save={(body) => update.mutate({ body }, told)} />
        )}
      </Loaded>
    </Panel>
  )
}

const told = { onSuccess: () => say('The policy was changed') }

type Body = Partial<Pick<RetentionPolicy, (typeof RULES)[number]['name']>>

function PolicyForm({
  policy,
  update,
  save,
}: {
  policy: RetentionPolicy
  update: { isPending: boolean; error: unknown }
  save: (body: Body) => void
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const body: Body = {}
    for (const { name } of RULES) {
      const text = String(given.get(name) ?? '')
      if (name === NEVER) {
        const value = text === '' ? null : Number(text)
        if (value !== policy[name]) body[name] = value
      } else if (text !== '' && Number(text) !== policy[name]) body[name] = Number(text)
    }
    if (Object.keys(body).length > 0) save(body)
  }
  return (
    <form className="stack" onSubmit={submit}>
      <div className="ops-fields">
        {RULES.map(({ name, label, unit }) => (
          <NumberField
            key={name}
            label={`${label} (${unit})`}
            hint={name === NEVER ? 'Empty: forever.' : undefined}
            name={name}
            min={1}
            required={name !== NEVER}
            defaultValue={policy[name] ?? ''}
          />
        ))}
      </div>
      <FormEnd of={update} label="Save" kind="plain" />
    </form>
  )
}

const QUOTAS: readonly [key: Exclude<keyof QuotaPolicy, 'providerBudgets'>, name: string, bytes?: true][] = [
  ['maxRawDocumentBytes', 'Documents', true],
  ['maxNodeCount', 'Passages'],
  ['maxProjectionCount', 'Index entries'],
  ['maxArtifactBytes', 'Parsed content', true],
  ['maxSegmentCount', 'Segments of parsed content'],
  ['maxGraphEntityCount', 'Entities'],
  ['maxGraphRelationCount', 'Relations'],
  ['maxActiveJobCount', 'Concurrent jobs'],
  ['maxActiveSessionCount', 'Concurrent sessions'],
  ['maxTraceBytes', 'Traces', true],
]
const BUDGETS = [
  ['maxEmbeddingTokensPerDay', 'Embedding tokens per day'],
  ['maxLlmTokensPerDay', 'Model tokens per day'],
  ['maxParserPagesPerDay', 'Parsed pages per day'],
  ['maxRerankRequestsPerDay', 'Reranks per day'],
] as const

function Quotas({ spaceId }: { spaceId: string }) {
  const path = { id: spaceId }
  const manifest = useRead('GET /knowledge-spaces/{id}/manifest', { path })
  const stats = useRead('GET /knowledge-spaces/{id}/stats', { path, query: {} })
  const used = stats.data?.storage.rawDocumentBytes
  return (
    <Panel title="Quotas of this space">
      <Loaded of={manifest}>
        {({ quotaPolicy }) => (
          <Facts
            of={[
              ...QUOTAS.map(([key, name, isBytes]) => {
                const most = quotaPolicy[key]
                const text = most === null ? 'no limit' : isBytes === true ? formatBytes(most) : formatCount(most)
                const isUsed = key === 'maxRawDocumentBytes' && used !== undefined
                return [name, isUsed ? `${formatBytes(used)} of ${text}` : text] as const
              }),
              ...BUDGETS.map(([key, name]) => {
                const most = quotaPolicy.providerBudgets[key]
                return [name, most === null ? 'no limit' : formatCount(most)] as const
              }),
            ]}
          />
        )}
      </Loaded>
      <p className="muted small ops-after">
        The operator sets quotas for all spaces with the setting <code>quotas</code> of the daemon.
      </p>
    </Panel>
  )
}

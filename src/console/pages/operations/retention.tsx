import type { FormEvent } from 'react'
import type { RetentionPolicy } from '../../../contract/gateway/retention.js'
import type { QuotaPolicy } from '../../../contract/gateway/spaces.js'
import { useRead, useWrite } from '../../api/use.js'
import { NumberField } from '../../ui/fields.js'
import { formatBytes, formatCount } from '../../ui/format.js'
import { Facts, FormActions, Panel } from '../../ui/parts.js'
import { Loaded } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'

const RETENTION_RULES = [
  { name: 'answerTraceRetentionDays', label: 'Traces of answers', unit: 'days' },
  { name: 'evidenceCacheRetentionDays', label: 'Cached evidence', unit: 'days' },
  { name: 'inactiveProjectionRetentionDays', label: 'Inactive projections', unit: 'days' },
  { name: 'parseArtifactVersions', label: 'Parsed versions of a document', unit: 'versions' },
  { name: 'rawDocumentRetentionDays', label: 'Original documents', unit: 'days' },
  { name: 'sessionInactivityMinutes', label: 'Inactive sessions', unit: 'minutes' },
] as const
/** the rule that may be empty: no limit */
const NULLABLE_RULE = 'rawDocumentRetentionDays'

/** Tab of retention policies and quotas. */
export function RetentionTab({ spaceId }: { spaceId: string }) {
  return (
    <div className="stack">
      <SpaceRetention spaceId={spaceId} />
      <TenantRetention />
      <Quotas spaceId={spaceId} />
    </div>
  )
}

function SpaceRetention({ spaceId }: { spaceId: string }) {
  const path = { id: spaceId }
  const policy = useRead('GET /knowledge-spaces/{id}/retention-policy', { path })
  const update = useWrite('PATCH /knowledge-spaces/{id}/retention-policy', [
    'GET /knowledge-spaces/{id}/retention-policy',
  ])
  return (
    <Panel title="Retention of this space">
      <Loaded query={policy}>
        {(data) => (
          <PolicyForm
            key={data.updatedAt}
            policy={data}
            update={update}
            onSubmit={(body) => update.mutate({ path, body }, { onSuccess })}
          />
        )}
      </Loaded>
    </Panel>
  )
}

function TenantRetention() {
  const policy = useRead('GET /retention-policy', {})
  const update = useWrite('PATCH /retention-policy', [
    'GET /retention-policy',
    'GET /knowledge-spaces/{id}/retention-policy',
  ])
  return (
    <Panel title="Default retention of all spaces">
      <Loaded query={policy}>
        {(data) => (
          <PolicyForm
            key={data.updatedAt}
            policy={data}
            update={update}
            onSubmit={(body) => update.mutate({ body }, { onSuccess })}
          />
        )}
      </Loaded>
    </Panel>
  )
}

const onSuccess = () => showToast('The policy was changed')

type PolicyChanges = Partial<Pick<RetentionPolicy, (typeof RETENTION_RULES)[number]['name']>>

interface PolicyFormProps {
  policy: RetentionPolicy
  /** mutation that stores the changes */
  update: { isPending: boolean; error: unknown }
  /** called with the changed fields, if there are any */
  onSubmit: (changes: PolicyChanges) => void
}

function PolicyForm({ policy, update, onSubmit }: PolicyFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const changes: PolicyChanges = {}
    for (const { name } of RETENTION_RULES) {
      const text = String(data.get(name) ?? '')
      if (name === NULLABLE_RULE) {
        const value = text === '' ? null : Number(text)
        if (value !== policy[name]) changes[name] = value
      } else if (text !== '' && Number(text) !== policy[name]) changes[name] = Number(text)
    }
    if (Object.keys(changes).length > 0) onSubmit(changes)
  }
  return (
    <form className="stack" onSubmit={submit}>
      <div className="ops-fields">
        {RETENTION_RULES.map(({ name, label, unit }) => (
          <NumberField
            key={name}
            label={`${label} (${unit})`}
            hint={name === NULLABLE_RULE ? 'Empty: forever.' : undefined}
            name={name}
            min={1}
            required={name !== NULLABLE_RULE}
            defaultValue={policy[name] ?? ''}
          />
        ))}
      </div>
      <FormActions mutation={update} label="Save" kind="plain" />
    </form>
  )
}

const QUOTA_LABELS: readonly [key: Exclude<keyof QuotaPolicy, 'providerBudgets'>, name: string][] = [
  ['maxRawDocumentBytes', 'Documents'],
  ['maxNodeCount', 'Passages'],
  ['maxProjectionCount', 'Index entries'],
  ['maxArtifactBytes', 'Parsed content'],
  ['maxSegmentCount', 'Segments of parsed content'],
  ['maxGraphEntityCount', 'Entities'],
  ['maxGraphRelationCount', 'Relations'],
  ['maxActiveJobCount', 'Concurrent jobs'],
  ['maxActiveSessionCount', 'Concurrent sessions'],
  ['maxTraceBytes', 'Traces'],
]
const BUDGET_LABELS = [
  ['maxEmbeddingTokensPerDay', 'Embedding tokens per day'],
  ['maxLlmTokensPerDay', 'Model tokens per day'],
  ['maxParserPagesPerDay', 'Parsed pages per day'],
  ['maxRerankRequestsPerDay', 'Reranks per day'],
] as const

function Quotas({ spaceId }: { spaceId: string }) {
  const path = { id: spaceId }
  const manifest = useRead('GET /knowledge-spaces/{id}/manifest', { path })
  const stats = useRead('GET /knowledge-spaces/{id}/stats', { path, query: {} })
  const usedBytes = stats.data?.storage.rawDocumentBytes
  return (
    <Panel title="Quotas of this space">
      <Loaded query={manifest}>
        {({ quotaPolicy }) => (
          <Facts
            entries={[
              ...QUOTA_LABELS.map(([key, name]) => {
                const limit = quotaPolicy[key]
                const format = key.endsWith('Bytes') ? formatBytes : formatCount
                const text = limit === null ? 'no limit' : format(limit)
                const hasUsage = key === 'maxRawDocumentBytes' && usedBytes !== undefined
                return [name, hasUsage ? `${formatBytes(usedBytes)} of ${text}` : text] as const
              }),
              ...BUDGET_LABELS.map(([key, name]) => {
                const limit = quotaPolicy.providerBudgets[key]
                return [name, limit === null ? 'no limit' : formatCount(limit)] as const
              }),
            ]}
          />
        )}
      </Loaded>
      <p className="muted small ops-hint">
        The operator sets quotas for all spaces with the setting <code>quotas</code> of the daemon.
      </p>
    </Panel>
  )
}

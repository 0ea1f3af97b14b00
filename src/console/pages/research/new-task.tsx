import { type FormEvent, useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { messageOf } from '../../api/client.js'
import { useWrite } from '../../api/use.js'
import { navigate, pageHref } from '../../router.js'
import { Button } from '../../ui/button.js'
import { NumberField, SelectField, TextAreaField } from '../../ui/fields.js'
import { formatCount, formatMs, plural } from '../../ui/format.js'
import { Dialog, Facts, FormActions } from '../../ui/parts.js'
import { Notice } from '../../ui/state.js'
import { formatUsd, TASKS, type Task } from './labels.js'

const MINUTE_MS = 60_000
const MODES = ['auto', 'fast', 'deep', 'research'] as const

interface NewTaskProps {
  space: KnowledgeSpace
  /** task whose question and limits are copied */
  template?: Task
  onClose: () => void
}

/** Form of a research task with its limits; the plan estimates time and cost before the start. */
export function NewTask({ space, template, onClose }: NewTaskProps) {
  const [query, setQuery] = useState(template?.query ?? '')
  const [mode, setMode] = useState<(typeof MODES)[number] | ''>('')
  const [budget, setBudget] = useState(template?.budgetUsd?.toString() ?? '')
  const [minutes, setMinutes] = useState(
    template?.limits?.timeoutMs === undefined ? '' : String(template.limits.timeoutMs / MINUTE_MS),
  )
  const plan = useWrite('POST /research-tasks/plan')
  const create = useWrite('POST /research-tasks', [TASKS])
  const request = {
    knowledgeSpaceId: space.id,
    query: query.trim(),
    ...(mode === '' ? {} : { mode }),
    ...(budget === '' ? {} : { budgetUsd: Number(budget) }),
  }
  const start = (event: FormEvent) => {
    event.preventDefault()
    const limits = {
      ...template?.limits,
      ...(minutes === '' ? {} : { timeoutMs: Math.round(Number(minutes) * MINUTE_MS) }),
    }
    const body = { ...request, ...(Object.keys(limits).length === 0 ? {} : { limits }) }
    create.mutate(
      { body },
      {
        onSuccess: ({ id }) => {
          onClose()
          navigate(pageHref('research', [id], { space: space.slug }))
        },
      },
    )
  }
  /** Removes the results of the form before the change. */
  const onChange = () => {
    plan.reset()
    create.reset()
  }
  return (
    <Dialog title={template === undefined ? 'New research task' : 'Start again'} onClose={onClose}>
      <form className="stack" onSubmit={start} onChange={onChange}>
        <TextAreaField
          label="Question"
          hint="It may have several parts, such as comparisons, lists and reasons."
          rows={3}
          required
          maxLength={16_000}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
        <div className="research-bounds">
          <SelectField
            label="Mode"
            value={mode}
            onChange={({ target }) => setMode(MODES.find((option) => option === target.value) ?? '')}
          >
            <option value="">space default</option>
            {MODES.map((option) => (
              <option key={option}>{option}</option>
            ))}
          </SelectField>
          <NumberField
            label="Budget, USD"
            hint="Empty: no limit."
            min="0"
            step="any"
            value={budget}
            onChange={(event) => setBudget(event.target.value)}
          />
          <NumberField
            label="Minutes"
            hint="Default: 10."
            min="0.001"
            step="any"
            value={minutes}
            onChange={(event) => setMinutes(event.target.value)}
          />
        </div>
        {plan.data !== undefined && <PlanSummary plan={plan.data} />}
        {plan.isError && <Notice tone="bad">{messageOf(plan.error)}</Notice>}
        <FormActions mutation={create} label="Start" icon="play" onCancel={onClose}>
          <Button disabled={query.trim() === ''} busy={plan.isPending} onClick={() => plan.mutate({ body: request })}>
            Plan
          </Button>
        </FormActions>
      </form>
    </Dialog>
  )
}

type TaskPlan = NonNullable<ReturnType<typeof useWrite<'POST /research-tasks/plan'>>['data']>

const BASIS_LABELS: Record<string, string> = {
  'measured-space': 'measured on tasks of this space',
  'measured-tenant': 'measured on tasks of other spaces',
  assumed: 'assumed: no task was measured yet',
}

function PlanSummary({ plan }: { plan: TaskPlan }) {
  const { estimates, budget, retrievalPlan, strategyVersion } = plan
  const { costUsd, latencyMs } = estimates
  // the version of the strategy names the basis of the estimates after a plus sign
  const basis = strategyVersion.slice(strategyVersion.indexOf('+') + 1)
  return (
    <section className="research-plan stack" aria-label="Plan">
      <Facts
        entries={[
          [
            'Cost',
            costUsd.max === 0
              ? 'nothing'
              : `${formatUsd(costUsd.estimated)} (${formatUsd(costUsd.min)} to ${formatUsd(costUsd.max)})`,
          ],
          ['Time', `${formatMs(latencyMs.p50)}, at most about ${formatMs(latencyMs.p95)}`],
          [
            'Searches',
            `${plural(estimates.retrievalSteps, 'search', 'searches')} of ${plural(estimates.scannedResources, 'passage')}`,
          ],
          ['Tokens', `${formatCount(estimates.inputTokens)} in, ${formatCount(estimates.outputTokens)} out`],
          ['Mode', retrievalPlan.resolvedMode],
          ['Based on', BASIS_LABELS[basis] ?? basis],
        ]}
      />
      {budget.exceedsBudget && <Notice tone="warn">The estimate exceeds the budget: the task would be refused.</Notice>}
    </section>
  )
}

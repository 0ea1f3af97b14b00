import { type FormEvent, useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { messageOf } from '../../api/client.js'
import { useWrite } from '../../api/use.js'
import { address, go } from '../../router.js'
import { Button } from '../../ui/button.js'
import { formatCount, formatMs, plural } from '../../ui/format.js'
import { Dialog, Facts, Field, FormEnd, NumberField } from '../../ui/parts.js'
import { Notice } from '../../ui/state.js'
import { money, TASKS, type Task } from './words.js'

const MINUTE = 60_000
type Mode = 'fast' | 'deep' | 'research' | 'auto'
const MODES = ['auto', 'fast', 'deep', 'research'] as const

interface NewTaskProps {
  space: KnowledgeSpace
  /** task whose question and limits are copied */
  like?: Task
  onClose: () => void
}

/** Form of a research task with its limits; the plan estimates time and cost before the start. */
export function NewTask({ space, like, onClose }: NewTaskProps) {
  const [query, setQuery] = useState(like?.query ?? '')
  const [mode, setMode] = useState<Mode | ''>('')
  const [budget, setBudget] = useState(like?.budgetUsd?.toString() ?? '')
  const [minutes, setMinutes] = useState(
    like?.limits?.timeoutMs === undefined ? '' : String(like.limits.timeoutMs / MINUTE),
  )
  const plan = useWrite('POST /research-tasks/plan')
  const create = useWrite('POST /research-tasks', [TASKS])
  const asked = {
    knowledgeSpaceId: space.id,
    query: query.trim(),
    ...(mode === '' ? {} : { mode }),
    ...(budget === '' ? {} : { budgetUsd: Number(budget) }),
  }
  const start = (event: FormEvent) => {
    event.preventDefault()
    const limits = { ...like?.limits, ...(minutes === '' ? {} : { timeoutMs: Math.round(Number(minutes) * MINUTE) }) }
    const body = { ...asked, ...(Object.keys(limits).length === 0 ? {} : { limits }) }
    create.mutate(
      { body },
      {
        onSuccess: ({ id }) => {
          onClose()
          go(address('research', [id], { space: space.slug }))
        },
      },
    )
  }
  const changed = () => {
    plan.reset()
    create.reset()
  }
  return (
    <Dialog title={like === undefined ? 'New research task' : 'Start again'} onClose={onClose}>
      <form className="stack" onSubmit={start} onChange={changed}>
        <Field label="Question" hint="It may have several parts, such as comparisons, lists and reasons.">
          {(given) => (
            <textarea
              {...given}
              className="textarea"
              rows={3}
              required
              maxLength={16_000}
              value={query}
              onChange={(event) => setQuery(event.target.value)}
            />
          )}
        </Field>
        <div className="research-bounds">
          <Field label="Mode">
            {(given) => (
              <select
                {...given}
                className="select"
                value={mode}
                onChange={({ target }) => setMode(MODES.find((one) => one === target.value) ?? '')}
              >
                <option value="">space default</option>
                {MODES.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            )}
          </Field>
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
        {plan.data !== undefined && <Plan plan={plan.data} />}
        {plan.isError && <Notice tone="bad">{messageOf(plan.error)}</Notice>}
        <FormEnd of={create} label="Start" icon="play" onCancel={onClose}>
          <Button disabled={query.trim() === ''} busy={plan.isPending} onClick={() => plan.mutate({ body: asked })}>
            Plan
          </Button>
        </FormEnd>
      </form>
    </Dialog>
  )
}

type PlanOf = NonNullable<ReturnType<typeof useWrite<'POST /research-tasks/plan'>>['data']>

const BASIS: Record<string, string> = {
  'measured-space': 'measured on tasks of this space',
  'measured-tenant': 'measured on tasks of other spaces',
  assumed: 'assumed: no task was measured yet',
}

function Plan({ plan }: { plan: PlanOf }) {
  const { estimates, budget, retrievalPlan, strategyVersion } = plan
  const { costUsd, latencyMs } = estimates
  const basis = strategyVersion.slice(strategyVersion.indexOf('+') + 1)
  return (
    <section className="research-plan stack" aria-label="Plan">
      <Facts
        of={[
          [
            'Cost',
            costUsd.max === 0
              ? 'nothing'
              : `${money(costUsd.estimated)} (${money(costUsd.min)} to ${money(costUsd.max)})`,
          ],
          ['Time', `${formatMs(latencyMs.p50)}, at most about ${formatMs(latencyMs.p95)}`],
          [
            'Searches',
            `${plural(estimates.retrievalSteps, 'search', 'searches')} of ${plural(estimates.scannedResources, 'passage')}`,
          ],
          ['Tokens', `${formatCount(estimates.inputTokens)} in, ${formatCount(estimates.outputTokens)} out`],
          ['Mode', retrievalPlan.resolvedMode],
          ['Based on', BASIS[basis] ?? basis],
        ]}
      />
      {budget.exceedsBudget && <Notice tone="warn">The estimate exceeds the budget: the task would be refused.</Notice>}
    </section>
  )
}

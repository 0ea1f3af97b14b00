import { type FormEvent, useState } from 'react'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { useRead, useWrite } from '../../api/use.js'
import { navigate, pageHref } from '../../router.js'
import { Dialog, Field, FormActions, NumberField, Panel } from '../../ui/parts.js'
import { showToast } from '../../ui/toast.js'

const APP_READS = ['GET /chat-apps', 'GET /chat-apps/{appId}'] as const

export function NewApp({ onClose }: { onClose: () => void }) {
  const create = useWrite('POST /chat-apps', APP_READS)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const body = {
      name: String(data.get('name') ?? '').trim(),
      description: String(data.get('description') ?? '').trim(),
      knowledgeSpaceIds: data.getAll('space').map(String),
    }
    create.mutate({ body }, { onSuccess: ({ id }) => navigate(pageHref('chat', [id])) })
  }
  return (
    <Dialog title="New application" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name">
          {(data) => <input {...data} name="name" className="input" required maxLength={160} />}
        </Field>
        <Field label="Description">
          {(data) => <input {...data} name="description" className="input" maxLength={2000} />}
        </Field>
        <SpaceChoices selectedIds={[]} />
        <FormActions mutation={create} label="Create" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function SpaceChoices({ selectedIds }: { selectedIds: readonly string[] }) {
  const spaces = useRead('GET /knowledge-spaces', { query: { limit: 1000 } })
  return (
    <fieldset className="choices">
      <legend className="small">
        <strong>Answers from</strong>
      </legend>
      <div className="chat-spaces">
        {spaces.data?.items.map(({ id, name }) => (
          <label key={id} className="check">
            <input type="checkbox" name="space" value={id} defaultChecked={selectedIds.includes(id)} />
            <span className="wrap">{name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Form of the most common settings; `kchat apps update` has the rest. */
export function EditApp({ app }: { app: ChatApp }) {
  const update = useWrite('PATCH /chat-apps/{appId}', APP_READS)
  const [hasPrices, setHasPrices] = useState(app.prices !== null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    const body = {
      name: text('name'),
      description: text('description'),
      enabled: data.has('enabled'),
      knowledgeSpaceIds: data.getAll('space').map(String),
      openingStatement: text('openingStatement'),
      instructions: text('instructions'),
      suggestedQuestions: text('suggestedQuestions')
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
      suggestedQuestionsAfterAnswer: data.has('suggestedQuestionsAfterAnswer'),
      retrieverResource: data.has('retrieverResource'),
      maxConcurrentRequests: Number(text('maxConcurrentRequests')),
      prices: hasPrices
        ? {
            promptUnitPrice: text('promptUnitPrice'),
            completionUnitPrice: text('completionUnitPrice'),
            priceUnit: text('priceUnit'),
            currency: text('currency'),
          }
        : null,
    }
    update.mutate({ path: { appId: app.id }, body }, { onSuccess: () => showToast('The application was changed') })
  }
  return (
    <form className="stack" onSubmit={submit}>
      <Panel title="General">
        <div className="stack">
          <CheckField name="enabled" label="Enabled" isChecked={app.enabled} />
          <Field label="Name">
            {(data) => (
              <input {...data} name="name" className="input" required maxLength={160} defaultValue={app.name} />
            )}
          </Field>
          <Field label="Description">
            {(data) => (
              <input {...data} name="description" className="input" maxLength={2000} defaultValue={app.description} />
            )}
          </Field>
          <SpaceChoices selectedIds={app.knowledgeSpaceIds} />
        </div>
      </Panel>
      <Panel title="Texts">
        <div className="stack">
          <TextAreaField name="openingStatement" label="Opening statement" value={app.openingStatement} />
          <TextAreaField name="instructions" label="Instructions to the model" value={app.instructions} />
          <TextAreaField
            name="suggestedQuestions"
            label="Suggested questions"
            hint="One per line, at most 20."
            value={app.suggestedQuestions.join('\n')}
          />
          <CheckField
            name="suggestedQuestionsAfterAnswer"
            label="The model suggests questions after an answer"
            isChecked={app.suggestedQuestionsAfterAnswer}
          />
          <CheckField name="retrieverResource" label="Answers list their passages" isChecked={app.retrieverResource} />
        </div>
      </Panel>
      <Panel title="Prices and limits">
        <div className="stack">
          <NumberField
            label="Concurrent answers"
            hint="0: no limit."
            name="maxConcurrentRequests"
            min={0}
            max={10_000}
            required
            defaultValue={app.maxConcurrentRequests}
          />
          <label className="check">
            <input type="checkbox" checked={hasPrices} onChange={(event) => setHasPrices(event.target.checked)} />
            Own prices instead of the model's
          </label>
          {hasPrices && (
            <div className="field-row">
              <PriceField
                name="promptUnitPrice"
                label="Price of a question unit"
                value={app.prices?.promptUnitPrice ?? '0'}
              />
              <PriceField
                name="completionUnitPrice"
                label="Price of an answer unit"
                value={app.prices?.completionUnitPrice ?? '0'}
              />
              <PriceField name="priceUnit" label="Units per token" value={app.prices?.priceUnit ?? '0.001'} />
              <PriceField name="currency" label="Currency" value={app.prices?.currency ?? 'USD'} />
            </div>
          )}
        </div>
      </Panel>
      <FormActions mutation={update} label="Save" />
    </form>
  )
}

function CheckField({ name, label, isChecked }: { name: string; label: string; isChecked: boolean }) {
  return (
    <label className="check">
      <input type="checkbox" name={name} defaultChecked={isChecked} />
      {label}
    </label>
  )
}

function TextAreaField({ name, label, hint, value }: { name: string; label: string; hint?: string; value: string }) {
  return (
    <Field label={label} hint={hint}>
      {(given) => <textarea {...given} name={name} className="textarea" rows={3} defaultValue={value} />}
    </Field>
  )
}

function PriceField({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <Field label={label}>
      {(given) => <input {...given} name={name} className="input" required defaultValue={value} />}
    </Field>
  )
}

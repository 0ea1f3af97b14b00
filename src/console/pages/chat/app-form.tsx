import { type FormEvent, useState } from 'react'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { useRead, useWrite } from '../../api/use.js'
import { address, go } from '../../router.js'
import { Dialog, Field, FormEnd, NumberField, Panel } from '../../ui/parts.js'
import { say } from '../../ui/toast.js'

const APPS = ['GET /chat-apps', 'GET /chat-apps/{appId}'] as const

export function NewApp({ onClose }: { onClose: () => void }) {
  const create = useWrite('POST /chat-apps', APPS)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const body = {
      name: String(given.get('name') ?? '').trim(),
      description: String(given.get('description') ?? '').trim(),
      knowledgeSpaceIds: given.getAll('space').map(String),
    }
    create.mutate({ body }, { onSuccess: ({ id }) => go(address('chat', [id])) })
  }
  return (
    <Dialog title="New application" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name">
          {(given) => <input {...given} name="name" className="input" required maxLength={160} />}
        </Field>
        <Field label="Description">
          {(given) => <input {...given} name="description" className="input" maxLength={2000} />}
        </Field>
        <SpacesOf chosen={[]} />
        <FormEnd of={create} label="Create" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function SpacesOf({ chosen }: { chosen: readonly string[] }) {
  const spaces = useRead('GET /knowledge-spaces', { query: { limit: 1000 } })
  return (
    <fieldset className="choices">
      <legend className="small">
        <strong>Answers from</strong>
      </legend>
      <div className="chat-spaces">
        {spaces.data?.items.map(({ id, name }) => (
          <label key={id} className="check">
            <input type="checkbox" name="space" value={id} defaultChecked={chosen.includes(id)} />
            <span className="wrap">{name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Form of the most common settings; `kchat apps update` has the rest. */
export function EditApp({ app }: { app: ChatApp }) {
  const update = useWrite('PATCH /chat-apps/{appId}', APPS)
  const [priced, setPriced] = useState(app.prices !== null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const text = (name: string) => String(given.get(name) ?? '').trim()
    const body = {
      name: text('name'),
      description: text('description'),
      enabled: given.has('enabled'),
      knowledgeSpaceIds: given.getAll('space').map(String),
      openingStatement: text('openingStatement'),
      instructions: text('instructions'),
      suggestedQuestions: text('suggestedQuestions')
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
      suggestedQuestionsAfterAnswer: given.has('suggestedQuestionsAfterAnswer'),
      retrieverResource: given.has('retrieverResource'),
      maxConcurrentRequests: Number(text('maxConcurrentRequests')),
      prices: priced
        ? {
            promptUnitPrice: text('promptUnitPrice'),
            completionUnitPrice: text('completionUnitPrice'),
            priceUnit: text('priceUnit'),
            currency: text('currency'),
          }
        : null,
    }
    update.mutate({ path: { appId: app.id }, body }, { onSuccess: () => say('The application was changed') })
  }
  return (
    <form className="stack" onSubmit={submit}>
      <Panel title="General">
        <div className="stack">
          <Check name="enabled" label="Enabled" on={app.enabled} />
          <Field label="Name">
            {(given) => (
              <input {...given} name="name" className="input" required maxLength={160} defaultValue={app.name} />
            )}
          </Field>
          <Field label="Description">
            {(given) => (
              <input {...given} name="description" className="input" maxLength={2000} defaultValue={app.description} />
            )}
          </Field>
          <SpacesOf chosen={app.knowledgeSpaceIds} />
        </div>
      </Panel>
      <Panel title="Texts">
        <div className="stack">
          <Area name="openingStatement" label="Opening statement" value={app.openingStatement} />
          <Area name="instructions" label="Instructions to the model" value={app.instructions} />
          <Area
            name="suggestedQuestions"
            label="Suggested questions"
            hint="One per line, at most 20."
            value={app.suggestedQuestions.join('\n')}
          />
          <Check
            name="suggestedQuestionsAfterAnswer"
            label="The model suggests questions after an answer"
            on={app.suggestedQuestionsAfterAnswer}
          />
          <Check name="retrieverResource" label="Answers list their passages" on={app.retrieverResource} />
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
            <input type="checkbox" checked={priced} onChange={(event) => setPriced(event.target.checked)} />
            Own prices instead of the model's
          </label>
          {priced && (
            <div className="field-row">
              <Price name="promptUnitPrice" label="Price of a question unit" value={app.prices?.promptUnitPrice ?? '0'} />
              <Price
                name="completionUnitPrice"
                label="Price of an answer unit"
                value={app.prices?.completionUnitPrice ?? '0'}
              />
              <Price name="priceUnit" label="Units per token" value={app.prices?.priceUnit ?? '0.001'} />
              <Price name="currency" label="Currency" value={app.prices?.currency ?? 'USD'} />
            </div>
          )}
        </div>
      </Panel>
      <FormEnd of={update} label="Save" />
    </form>
  )
}

function Check({ name, label, on }: { name: string; label: string; on: boolean }) {
  return (
    <label className="check">
      <input type="checkbox" name={name} defaultChecked={on} />
      {label}
    </label>
  )
}

function Area({ name, label, hint, value }: { name: string; label: string; hint?: string; value: string }) {
  return (
    <Field label={label} hint={hint}>
      {(given) => <textarea {...given} name={name} className="textarea" rows={3} defaultValue={value} />}
    </Field>
  )
}

function Price({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <Field label={label}>
      {(given) => <input {...given} name={name} className="input" required defaultValue={value} />}
    </Field>
  )
}

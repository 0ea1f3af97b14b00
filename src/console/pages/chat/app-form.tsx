import { type FormEvent, useState } from 'react'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { useSpaces } from '../../api/space.js'
import { useWrite } from '../../api/use.js'
import { navigate, pageHref } from '../../router.js'
import { CheckBox, NumberField, TextAreaField, TextField } from '../../ui/fields.js'
import { splitTrimmed } from '../../ui/format.js'
import { Dialog, FormActions, Panel } from '../../ui/parts.js'
import { showToast } from '../../ui/toast.js'

const APP_READS = ['GET /chat-apps', 'GET /chat-apps/{appId}'] as const
const MAX_NAME_CHARS = 160
const MAX_DESCRIPTION_CHARS = 2000

/** Dialog with the form of a new application. */
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
        <TextField label="Name" name="name" required maxLength={MAX_NAME_CHARS} />
        <TextField label="Description" name="description" maxLength={MAX_DESCRIPTION_CHARS} />
        <SpaceChoices selectedIds={[]} />
        <FormActions mutation={create} label="Create" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function SpaceChoices({ selectedIds }: { selectedIds: readonly string[] }) {
  const spaces = useSpaces()
  return (
    <fieldset className="choices">
      <legend className="small">
        <strong>Answers from</strong>
      </legend>
      <div className="chat-spaces">
        {spaces.data?.items.map(({ id, name }) => (
          <CheckBox key={id} name="space" value={id} defaultChecked={selectedIds.includes(id)}>
            <span className="wrap">{name}</span>
          </CheckBox>
        ))}
      </div>
    </fieldset>
  )
}

/** Form of the most common settings; `kchat apps update` has the others, too. */
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
      suggestedQuestions: splitTrimmed(text('suggestedQuestions'), '\n'),
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
          <CheckBox name="enabled" defaultChecked={app.enabled}>
            Enabled
          </CheckBox>
          <TextField label="Name" name="name" required maxLength={MAX_NAME_CHARS} defaultValue={app.name} />
          <TextField
            label="Description"
            name="description"
            maxLength={MAX_DESCRIPTION_CHARS}
            defaultValue={app.description}
          />
          <SpaceChoices selectedIds={app.knowledgeSpaceIds} />
        </div>
      </Panel>
      <Panel title="Texts">
        <div className="stack">
          <TextAreaField
            label="Opening statement"
            name="openingStatement"
            rows={3}
            defaultValue={app.openingStatement}
          />
          <TextAreaField
            label="Instructions to the model"
            name="instructions"
            rows={3}
            defaultValue={app.instructions}
          />
          <TextAreaField
            label="Suggested questions"
            hint="One per line, at most 20."
            name="suggestedQuestions"
            rows={3}
            defaultValue={app.suggestedQuestions.join('\n')}
          />
          <CheckBox name="suggestedQuestionsAfterAnswer" defaultChecked={app.suggestedQuestionsAfterAnswer}>
            The model suggests questions after an answer
          </CheckBox>
          <CheckBox name="retrieverResource" defaultChecked={app.retrieverResource}>
            Answers list their passages
          </CheckBox>
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
          <CheckBox checked={hasPrices} onChange={(event) => setHasPrices(event.target.checked)}>
            Own prices instead of the model's
          </CheckBox>
          {hasPrices && (
            <div className="field-row">
              {PRICE_FIELDS.map(({ name, label, initialValue }) => (
                <TextField
                  key={name}
                  label={label}
                  name={name}
                  required
                  defaultValue={app.prices?.[name] ?? initialValue}
                />
              ))}
            </div>
          )}
        </div>
      </Panel>
      <FormActions mutation={update} label="Save" />
    </form>
  )
}

const PRICE_FIELDS = [
  { name: 'promptUnitPrice', label: 'Price of a question unit', initialValue: '0' },
  { name: 'completionUnitPrice', label: 'Price of an answer unit', initialValue: '0' },
  { name: 'priceUnit', label: 'Units per token', initialValue: '0.001' },
  { name: 'currency', label: 'Currency', initialValue: 'USD' },
] as const

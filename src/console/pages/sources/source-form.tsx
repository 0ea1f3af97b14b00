import { type FormEvent, useRef, useState } from 'react'
import type { Source } from '../../../contract/gateway/sources.js'
import { isRecord } from '../../api/session.js'
import { useWrite } from '../../api/use.js'
import { Dialog, Field, FormActions } from '../../ui/parts.js'
import { showToast } from '../../ui/toast.js'
import { kindTitle, SOURCE_KINDS, type SourceKind, type SourceParameter } from './kinds.js'
import { Schedule } from './schedule.js'

const SOURCE_READS = ['GET /knowledge-spaces/{id}/sources'] as const

/** Form of a new source: first its kind, then the fields of that kind. */
export function NewSourceDialog({ spaceId, onClose }: { spaceId: string; onClose: (made?: Source) => void }) {
  const [kind, setKind] = useState<SourceKind>()
  const create = useWrite('POST /knowledge-spaces/{id}/sources', SOURCE_READS)
  const title = kind === undefined ? 'Add a source' : `Add: ${kind.title}`
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (kind === undefined) return
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    const parameters = readParameters(kind.parameters, text)
    const credentials = readCredentials(kind, data)
    const syncPolicy = readPolicy(text)
    const metadata = {
      ...(kind.provider === undefined ? {} : { provider: kind.provider }),
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
      ...(credentials === undefined ? {} : { credentials }),
      ...(syncPolicy === undefined ? {} : { syncPolicy }),
    }
    const body = { name: text('name'), type: kind.type, uri: text('uri'), metadata }
    create.mutate({ path: { id: spaceId }, body }, { onSuccess: onClose })
  }
  return (
    <Dialog title={title} onClose={() => onClose()}>
      {kind === undefined ? (
        <ul className="kinds">
          {SOURCE_KINDS.map((option) => (
            <li key={option.id}>
              <button type="button" className="kind" onClick={() => setKind(option)}>
                <strong>{option.title}</strong>
                <span className="muted small">{option.lead}</span>
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <form className="stack" onSubmit={submit} autoComplete="off">
          <p className="muted">{kind.lead}</p>
          <Field label="Name">
            {(data) => <input {...data} name="name" className="input" required maxLength={200} />}
          </Field>
          <Field label={kind.uri.label} hint={kind.uri.hint}>
            {(data) => (
              <input
                {...data}
                name="uri"
                className="input mono"
                required
                maxLength={4096}
                placeholder={kind.uri.placeholder}
                spellCheck={false}
              />
            )}
          </Field>
          <ParameterFields parameters={kind.parameters} />
          <CredentialFields kind={kind} />
          <Schedule />
          <FormActions mutation={create} label="Add" cancel="Back" onCancel={() => setKind(undefined)} />
        </form>
      )}
    </Dialog>
  )
}

/** Form for name, schedule and credentials. The address cannot be changed: the documents came from there. */
export function EditSourceDialog({ source, onClose }: { source: Source; onClose: () => void }) {
  const update = useWrite('PATCH /knowledge-spaces/{id}/sources/{sourceId}', SOURCE_READS)
  const kind = SOURCE_KINDS.find(({ title }) => title === kindTitle(source))
  const [removesCredentials, setRemovesCredentials] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    const syncPolicy = readPolicy(text)
    const credentials = removesCredentials ? null : kind === undefined ? undefined : readCredentials(kind, data)
    const { syncPolicy: _, parameters: previousParameters, ...own } = ownMetadata(source)
    const parameters = kind === undefined ? previousParameters : readParameters(kind.parameters, text)
    const metadata = {
      ...own,
      ...(isRecord(parameters) && Object.keys(parameters).length > 0 ? { parameters } : {}),
      ...(syncPolicy === undefined ? {} : { syncPolicy }),
      ...(credentials === undefined ? {} : { credentials }),
    }
    const path = { id: source.knowledgeSpaceId, sourceId: source.id }
    const body = { name: text('name'), metadata, expectedVersion: source.version }
    const onSaved = () => {
      showToast(`${text('name')} was changed`)
      onClose()
    }
    update.mutate({ path, body }, { onSuccess: onSaved })
  }
  return (
    <Dialog title={`Edit: ${source.name}`} onClose={onClose}>
      <form className="stack" onSubmit={submit} autoComplete="off">
        <Field label="Name">
          {(data) => (
            <input {...data} name="name" className="input" required maxLength={200} defaultValue={source.name} />
          )}
        </Field>
        {kind !== undefined && <ParameterFields parameters={kind.parameters} values={source.metadata.parameters} />}
        <Schedule policy={source.metadata.syncPolicy} />
        {kind !== undefined && !removesCredentials && <CredentialFields kind={kind} replaces />}
        <label className="check">
          <input
            type="checkbox"
            checked={removesCredentials}
            onChange={(event) => setRemovesCredentials(event.target.checked)}
          />
          Remove the stored credentials
        </label>
        <FormActions mutation={update} label="Save" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function ParameterFields({ parameters, values }: { parameters: readonly SourceParameter[]; values?: unknown }) {
  if (parameters.length === 0) return null
  const current = isRecord(values) ? values : {}
  return (
    <div className="field-row">
      {parameters.map(({ name, label, hint, number }) => (
        <Field key={name} label={label} hint={hint}>
          {(given) => (
            <input
              {...given}
              name={`parameter.${name}`}
              className="input"
              defaultValue={current[name] === undefined ? '' : String(current[name])}
              {...(number === undefined
                ? {}
                : { type: 'number', min: number.min, max: number.max, placeholder: number.placeholder })}
            />
          )}
        </Field>
      ))}
    </div>
  )
}

/** Fields for credentials, which the daemon stores encrypted and never shows. */
function CredentialFields({ kind, replaces = false }: { kind: SourceKind; replaces?: boolean }) {
  const [methodIndex, setMethodIndex] = useState(-1)
  const first = useRef<HTMLSelectElement>(null)
  const method = kind.credentials[methodIndex]
  const noneLabel = replaces ? 'Keep the stored credentials' : 'None: it is public'
  return (
    <>
      <Field label="Signs in with" hint="Stored encrypted by the daemon and never shown again.">
        {(given) => (
          <select
            {...given}
            ref={first}
            className="select"
            value={methodIndex}
            onChange={(event) => setMethodIndex(Number(event.target.value))}
          >
            <option value={-1}>{noneLabel}</option>
            {kind.credentials.map(({ title }, index) => (
              <option key={title} value={index}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
      {method !== undefined && (
        <div className="field-row">
          {method.fields.map(({ name, label, optional }) => (
            <Field key={name} label={label}>
              {(given) => (
                <input
                  {...given}
                  name={`secret.${name}`}
                  className="input"
                  type={name === 'username' || name === 'accessKeyId' ? 'text' : 'password'}
                  autoComplete="off"
                  required={optional !== true}
                />
              )}
            </Field>
          ))}
        </div>
      )}
    </>
  )
}

function readParameters(
  parameters: readonly SourceParameter[],
  text: (name: string) => string,
): Record<string, string | number> {
  return Object.fromEntries(
    parameters.flatMap(({ name, number }) => {
      const value = text(`parameter.${name}`)
      return value === '' ? [] : [[name, number === undefined ? value : Number(value)]]
    }),
  )
}

function readCredentials(kind: SourceKind, data: FormData): Record<string, string> | undefined {
  const method = kind.credentials.find(({ fields }) => fields.some(({ name }) => data.has(`secret.${name}`)))
  if (method === undefined) return undefined
  const names = kind.credentials.flatMap(({ fields }) => fields.map(({ name }) => name))
  const entries = [...new Set(names)].flatMap((name) => {
    const value = data.get(`secret.${name}`)
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  })
  return Object.fromEntries(entries)
}

function readPolicy(text: (name: string) => string): Record<string, unknown> | undefined {
  const mode = text('schedule')
  if (mode === 'every') return { everyHours: Number(text('everyHours')) }
  if (mode !== 'daily') return undefined
  const dailyAt = text('dailyAt')
    .split(',')
    .map((time) => time.trim())
  const utcOffset = text('utcOffset')
  return { dailyAt, ...(utcOffset === '' ? {} : { utcOffset }) }
}

/** The metadata of the client, without the fields that the daemon adds. */
export function ownMetadata({ metadata }: Source): Record<string, unknown> {
  const {
    tenantId: _,
    syncState: __,
    sync: ___,
    crawled: ____,
    imported: _____,
    importedFiles: ______,
    ...own
  } = metadata
  return own
}

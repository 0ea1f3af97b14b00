import { type FormEvent, useState } from 'react'
import type { Source } from '../../../contract/gateway/sources.js'
import { isRecord } from '../../api/session.js'
import { useWrite } from '../../api/use.js'
import { CheckBox, SelectField, TextField } from '../../ui/fields.js'
import { Dialog, FormActions } from '../../ui/parts.js'
import { showToast } from '../../ui/toast.js'
import { findKind, SOURCE_KINDS, type SourceKind, type SourceParameter } from './kinds.js'
import { Schedule } from './schedule.js'

const SOURCE_READS = ['GET /knowledge-spaces/{id}/sources'] as const
const MAX_NAME_CHARS = 200

/** Form of a new source: first its kind, then the fields of that kind. */
export function NewSourceDialog({ spaceId, onClose }: { spaceId: string; onClose: () => void }) {
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
    <Dialog title={title} onClose={onClose}>
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
          <TextField label="Name" name="name" required maxLength={MAX_NAME_CHARS} />
          <TextField
            label={kind.uri.label}
            hint={kind.uri.hint}
            className="mono"
            name="uri"
            required
            maxLength={4096}
            placeholder={kind.uri.placeholder}
            spellCheck={false}
          />
          <ParameterFields parameters={kind.parameters} />
          <CredentialFields kind={kind} noneLabel="None: it is public" />
          <Schedule />
          <FormActions mutation={create} label="Add" cancelLabel="Back" onCancel={() => setKind(undefined)} />
        </form>
      )}
    </Dialog>
  )
}

/** Form for name, schedule and credentials. The address cannot be changed: the documents came from there. */
export function EditSourceDialog({ source, onClose }: { source: Source; onClose: () => void }) {
  const update = useWrite('PATCH /knowledge-spaces/{id}/sources/{sourceId}', SOURCE_READS)
  const kind = findKind(source)
  const [removesCredentials, setRemovesCredentials] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    const syncPolicy = readPolicy(text)
    const credentials = removesCredentials ? null : kind === undefined ? undefined : readCredentials(kind, data)
    const { syncPolicy: _, parameters: previousParameters, ...otherMetadata } = getClientMetadata(source)
    const parameters = kind === undefined ? previousParameters : readParameters(kind.parameters, text)
    const metadata = {
      ...otherMetadata,
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
        <TextField label="Name" name="name" required maxLength={MAX_NAME_CHARS} defaultValue={source.name} />
        {kind !== undefined && <ParameterFields parameters={kind.parameters} values={source.metadata.parameters} />}
        <Schedule policy={source.metadata.syncPolicy} />
        {kind !== undefined && !removesCredentials && (
          <CredentialFields kind={kind} noneLabel="Keep the stored credentials" />
        )}
        <CheckBox checked={removesCredentials} onChange={(event) => setRemovesCredentials(event.target.checked)}>
          Remove the stored credentials
        </CheckBox>
        <FormActions mutation={update} label="Save" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

/** @param values `parameters` of the source's metadata */
function ParameterFields({ parameters, values }: { parameters: readonly SourceParameter[]; values?: unknown }) {
  if (parameters.length === 0) return null
  const current = isRecord(values) ? values : {}
  return (
    <div className="field-row">
      {parameters.map(({ name, label, hint, number }) => (
        <TextField
          key={name}
          label={label}
          hint={hint}
          name={`parameter.${name}`}
          defaultValue={current[name] === undefined ? '' : String(current[name])}
          {...(number === undefined ? {} : { type: 'number', ...number })}
        />
      ))}
    </div>
  )
}

/** Fields for credentials, which the daemon stores encrypted and never shows. */
function CredentialFields({ kind, noneLabel }: { kind: SourceKind; noneLabel: string }) {
  const [methodIndex, setMethodIndex] = useState(-1)
  const method = kind.credentials[methodIndex]
  return (
    <>
      <SelectField
        label="Signs in with"
        hint="Stored encrypted by the daemon and never shown again."
        value={methodIndex}
        onChange={(event) => setMethodIndex(Number(event.target.value))}
      >
        <option value={-1}>{noneLabel}</option>
        {kind.credentials.map(({ title }, index) => (
          <option key={title} value={index}>
            {title}
          </option>
        ))}
      </SelectField>
      {method !== undefined && (
        <div className="field-row">
          {method.fields.map(({ name, label, optional }) => (
            <TextField
              key={name}
              label={label}
              name={`secret.${name}`}
              type={name === 'username' || name === 'accessKeyId' ? 'text' : 'password'}
              autoComplete="off"
              required={optional !== true}
            />
          ))}
        </div>
      )}
    </>
  )
}

/** @param text returns the value of a field of the form */
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

/** Reads the filled-in credentials; undefined if no method is selected. */
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

/** Reads the schedule; undefined for none. */
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
export function getClientMetadata({ metadata }: Source): Record<string, unknown> {
  const {
    tenantId: _,
    syncState: __,
    sync: ___,
    crawled: ____,
    imported: _____,
    importedFiles: ______,
    ...clientMetadata
  } = metadata
  return clientMetadata
}

import { type FormEvent, useRef, useState } from 'react'
import type { Source } from '../../../contract/gateway/sources.js'
import { isRecord } from '../../api/session.js'
import { useWrite } from '../../api/use.js'
import { Dialog, Field, FormEnd } from '../../ui/parts.js'
import { say } from '../../ui/toast.js'
import { KINDS, type Kind, kindOf, type Parameter } from './kinds.js'
import { Schedule } from './schedule.js'

const CHANGES = ['GET /knowledge-spaces/{id}/sources'] as const

/** Form of a new source: first its kind, then the fields of that kind. */
export function NewSource({ spaceId, onClose }: { spaceId: string; onClose: (made?: Source) => void }) {
  const [kind, setKind] = useState<Kind>()
  const create = useWrite('POST /knowledge-spaces/{id}/sources', CHANGES)
  const title = kind === undefined ? 'Add a source' : `Add: ${kind.title}`
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (kind === undefined) return
    const given = new FormData(event.currentTarget)
    const text = (name: string) => String(given.get(name) ?? '').trim()
    const parameters = parametersIn(kind.parameters, text)
    const credentials = credentialsIn(kind, given)
    const syncPolicy = policyIn(text)
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
          {KINDS.map((one) => (
            <li key={one.id}>
              <button type="button" className="kind" onClick={() => setKind(one)}>
                <strong>{one.title}</strong>
                <span className="muted small">{one.lead}</span>
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <form className="stack" onSubmit={submit} autoComplete="off">
          <p className="muted">{kind.lead}</p>
          <Field label="Name">
            {(given) => <input {...given} name="name" className="input" required maxLength={200} />}
          </Field>
          <Field label={kind.uri.label} hint={kind.uri.hint}>
            {(given) => (
              <input
                {...given}
                name="uri"
                className="input mono"
                required
                maxLength={4096}
                placeholder={kind.uri.placeholder}
                spellCheck={false}
              />
            )}
          </Field>
          <Parameters of={kind.parameters} />
          <Credentials of={kind} />
          <Schedule />
          <FormEnd of={create} label="Add" cancel="Back" onCancel={() => setKind(undefined)} />
        </form>
      )}
    </Dialog>
  )
}

/** Form for name, schedule and credentials. The address cannot be changed: the documents came from there. */
export function EditSource({ source, onClose }: { source: Source; onClose: () => void }) {
  const update = useWrite('PATCH /knowledge-spaces/{id}/sources/{sourceId}', CHANGES)
  const kind = KINDS.find(({ title }) => title === kindOf(source))
  const [forgets, setForgets] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const text = (name: string) => String(given.get(name) ?? '').trim()
    const syncPolicy = policyIn(text)
    const credentials = forgets ? null : kind === undefined ? undefined : credentialsIn(kind, given)
    const { syncPolicy: _, parameters: before, ...own } = ownMetadata(source)
    const parameters = kind === undefined ? before : parametersIn(kind.parameters, text)
    const metadata = {
      ...own,
      ...(isRecord(parameters) && Object.keys(parameters).length > 0 ? { parameters } : {}),
      ...(syncPolicy === undefined ? {} : { syncPolicy }),
      ...(credentials === undefined ? {} : { credentials }),
    }
    const path = { id: source.knowledgeSpaceId, sourceId: source.id }
    const body = { name: text('name'), metadata, expectedVersion: source.version }
    const done = () => {
      say(`${text('name')} was changed`)
      onClose()
    }
    update.mutate({ path, body }, { onSuccess: done })
  }
  return (
    <Dialog title={`Edit: ${source.name}`} onClose={onClose}>
      <form className="stack" onSubmit={submit} autoComplete="off">
        <Field label="Name">
          {(given) => (
            <input {...given} name="name" className="input" required maxLength={200} defaultValue={source.name} />
          )}
        </Field>
        {kind !== undefined && <Parameters of={kind.parameters} values={source.metadata.parameters} />}
        <Schedule policy={source.metadata.syncPolicy} />
        {kind !== undefined && !forgets && <Credentials of={kind} replaces />}
        <label className="check">
          <input type="checkbox" checked={forgets} onChange={(event) => setForgets(event.target.checked)} />
          Remove the stored credentials
        </label>
        <FormEnd of={update} label="Save" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function Parameters({ of, values }: { of: readonly Parameter[]; values?: unknown }) {
  if (of.length === 0) return null
  const known = isRecord(values) ? values : {}
  return (
    <div className="field-row">
      {of.map(({ name, label, hint, number }) => (
        <Field key={name} label={label} hint={hint}>
          {(given) => (
            <input
              {...given}
              name={`parameter.${name}`}
              className="input"
              defaultValue={known[name] === undefined ? '' : String(known[name])}
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
function Credentials({ of, replaces = false }: { of: Kind; replaces?: boolean }) {
  const [way, setWay] = useState(-1)
  const first = useRef<HTMLSelectElement>(null)
  const chosen = of.credentials[way]
  const none = replaces ? 'Keep the stored credentials' : 'None: it is public'
  return (
    <>
      <Field label="Signs in with" hint="Stored encrypted by the daemon and never shown again.">
        {(given) => (
          <select
            {...given}
            ref={first}
            className="select"
            value={way}
            onChange={(event) => setWay(Number(event.target.value))}
          >
            <option value={-1}>{none}</option>
            {of.credentials.map(({ title }, at) => (
              <option key={title} value={at}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
      {chosen !== undefined && (
        <div className="field-row">
          {chosen.fields.map(({ name, label, optional }) => (
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

function parametersIn(of: readonly Parameter[], text: (name: string) => string): Record<string, string | number> {
  return Object.fromEntries(
    of.flatMap(({ name, number }) => {
      const value = text(`parameter.${name}`)
      return value === '' ? [] : [[name, number === undefined ? value : Number(value)]]
    }),
  )
}

function credentialsIn(kind: Kind, given: FormData): Record<string, string> | undefined {
  const way = kind.credentials.find(({ fields }) => fields.some(({ name }) => given.has(`secret.${name}`)))
  if (way === undefined) return undefined
  const all = kind.credentials.flatMap(({ fields }) => fields.map(({ name }) => name))
  const entries = [...new Set(all)].flatMap((name) => {
    const value = given.get(`secret.${name}`)
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  })
  return Object.fromEntries(entries)
}

function policyIn(text: (name: string) => string): Record<string, unknown> | undefined {
  const how = text('schedule')
  if (how === 'every') return { everyHours: Number(text('everyHours')) }
  if (how !== 'daily') return undefined
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

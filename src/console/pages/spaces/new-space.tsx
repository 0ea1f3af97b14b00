import { type FormEvent, useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { RequestError } from '../../api/client.js'
import { useWrite } from '../../api/use.js'
import { Dialog, Field, FormActions } from '../../ui/parts.js'

/** Form of a new space. Only the name is required; documents are added afterwards. */
export function NewSpaceDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (space: KnowledgeSpace) => void
}) {
  const [name, setName] = useState('')
  const [slug, setSlug] = useState<string>()
  const [description, setDescription] = useState('')
  const create = useWrite('POST /knowledge-spaces', ['GET /knowledge-spaces'])
  const proposed = slug ?? toSlug(name)
  const isTaken = create.error instanceof RequestError && create.error.status === 409

  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = {
      name: name.trim(),
      slug: proposed,
      ...(description.trim() === '' ? {} : { description: description.trim() }),
    }
    create.mutate(
      { body },
      {
        onSuccess: (space) => {
          onClose()
          onCreated(space)
        },
      },
    )
  }

  return (
    <Dialog title="New space" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name">
          {(given) => (
            <input
              {...given}
              className="input"
              required
              maxLength={160}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="Short name"
          hint="Used in addresses and on the command line: lower-case letters, digits, hyphens."
          error={isTaken ? 'Another space has this short name. Choose another one.' : undefined}
        >
          {(given) => (
            <input
              {...given}
              className="input mono"
              required
              pattern="[a-z0-9]+(-[a-z0-9]+)*"
              value={proposed}
              onChange={(event) => {
                setSlug(event.target.value)
                create.reset()
              }}
            />
          )}
        </Field>
        <Field label="Description" hint="Optional: what it contains.">
          {(given) => (
            <textarea
              {...given}
              className="textarea"
              rows={2}
              maxLength={2000}
              value={description}
              onChange={(event) => setDescription(event.target.value)}
            />
          )}
        </Field>
        <FormActions
          mutation={{ isPending: create.isPending, error: isTaken ? null : create.error }}
          label="Create"
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

/** `Contracts 2025 (EU)` → `contracts-2025-eu` */
export function toSlug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80)
}

import { type FormEvent, useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { RequestError } from '../../api/client.js'
import { useWrite } from '../../api/use.js'
import { TextAreaField, TextField } from '../../ui/fields.js'
import { Dialog, FormActions } from '../../ui/parts.js'

interface NewSpaceDialogProps {
  onClose: () => void
  onCreated: (space: KnowledgeSpace) => void
}

/** Form of a new space. Only the name is required; documents are added afterwards. */
export function NewSpaceDialog({ onClose, onCreated }: NewSpaceDialogProps) {
  const [name, setName] = useState('')
  const [typedSlug, setTypedSlug] = useState<string>()
  const [description, setDescription] = useState('')
  const create = useWrite('POST /knowledge-spaces', ['GET /knowledge-spaces'])
  const slug = typedSlug ?? toSlug(name)
  const isTaken = create.error instanceof RequestError && create.error.status === 409

  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = {
      name: name.trim(),
      slug,
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
        <TextField
          label="Name"
          required
          maxLength={160}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="Short name"
          hint="Used in addresses and on the command line: lower-case letters, digits, hyphens."
          error={isTaken ? 'Another space has this short name. Choose another one.' : undefined}
          className="mono"
          required
          pattern="[a-z0-9]+(-[a-z0-9]+)*"
          value={slug}
          onChange={(event) => {
            setTypedSlug(event.target.value)
            create.reset()
          }}
        />
        <TextAreaField
          label="Description"
          hint="Optional: what it contains."
          rows={2}
          maxLength={2000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
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
function toSlug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80)
}

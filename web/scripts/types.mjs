// Writes src/api/types.ts from the server's OpenAPI document, so that a field
// the server renames breaks the build of the page and not its reader.
import { readFileSync, writeFileSync } from 'node:fs'

const source = new URL('../../internal/api/openapi.json', import.meta.url)
const target = new URL('../src/api/types.ts', import.meta.url)
const { components } = JSON.parse(readFileSync(source, 'utf8'))

function typeOf(schema, indent) {
  if (schema.$ref) return schema.$ref.split('/').pop()
  if (schema.oneOf) return schema.oneOf.map((s) => typeOf(s, indent)).join(' | ')
  if (schema.enum) return schema.enum.map((v) => `'${v}'`).join(' | ')
  if (schema.const !== undefined) return `'${schema.const}'`
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ')
  }
  switch (schema.type) {
    case 'array': return `Array<${typeOf(schema.items, indent)}>`
    case 'integer': case 'number': return 'number'
    case 'null': return 'null'
    case 'string': case 'boolean': return schema.type
    case 'object': return objectOf(schema, indent)
    default: return 'unknown'
  }
}

function objectOf(schema, indent) {
  if (!schema.properties) {
    const value = typeof schema.additionalProperties === 'object' ? typeOf(schema.additionalProperties, indent) : 'unknown'
    return `Record<string, ${value}>`
  }
  const inner = indent + '  '
  const lines = Object.entries(schema.properties).map(([name, property]) => {
    const optional = (schema.required ?? []).includes(name) ? '' : '?'
    const note = property.description ? `${inner}/** ${property.description} */\n` : ''
    return `${note}${inner}${name}${optional}: ${typeOf(property, inner)}`
  })
  return `{\n${lines.join('\n')}\n${indent}}`
}

const parts = Object.entries(components.schemas).map(([name, schema]) => {
  const note = schema.description ? `/** ${schema.description} */\n` : ''
  return `${note}export type ${name} = ${typeOf(schema, '')}\n`
})
writeFileSync(target, `// Written by scripts/types.mjs from internal/api/openapi.json. Do not edit.\n\n${parts.join('\n')}`)

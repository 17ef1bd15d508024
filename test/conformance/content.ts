/** What the fixture answers with: the texts, contents and forms that the official scenarios look for. */

import type {
  AudioContent,
  EmbeddedResource,
  ImageContent,
  TextContent,
} from '@modelcontextprotocol/sdk/types.js';

/** A picture of one red dot, and a sound without samples. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

export const image: ImageContent = { type: 'image', data: PNG, mimeType: 'image/png' };
export const audio: AudioContent = { type: 'audio', data: WAV, mimeType: 'audio/wav' };

/** A text block. */
export const text = (value: string): TextContent => ({ type: 'text', text: value });

/** A resource within a result or a message. */
export const embedded = (uri: string, mimeType: string, value: string): EmbeddedResource => ({
  type: 'resource',
  resource: { uri, mimeType, text: value },
});

export const identityForm = {
  type: 'object',
  properties: {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  required: ['username', 'email'],
} as const;

/** A default for every kind of property (SEP-1034). */
export const formWithDefaults = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
} as const;

const titled = (noun: string) =>
  ['First', 'Second', 'Third'].map((nth, index) => ({ const: `value${index + 1}`, title: `${nth} ${noun}` }));

/** Every shape a choice may have (SEP-1330). */
export const formOfChoices: object = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled('Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
  },
};

/** Keywords of JSON Schema 2020-12 that must reach the client as they are (SEP-1613). */
export const contactSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const;

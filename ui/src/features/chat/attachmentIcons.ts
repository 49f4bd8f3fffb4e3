import AtSign from '@lucide/svelte/icons/at-sign';
import Brain from '@lucide/svelte/icons/brain';
import File from '@lucide/svelte/icons/file';
import FileText from '@lucide/svelte/icons/file-text';
import Folder from '@lucide/svelte/icons/folder';
import Image from '@lucide/svelte/icons/image';
import MessageSquare from '@lucide/svelte/icons/message-square';
import type { Component } from 'svelte';
import type { AttachmentKind, MentionKind } from '../../ipc/bindings';

export const ATTACHMENT_ICONS: Record<AttachmentKind, Component> = {
  image: Image,
  pdf: FileText,
  text: FileText,
  mention: AtSign,
  other: File,
};

export const MENTION_ICONS: Record<MentionKind, Component> = {
  file: File,
  folder: Folder,
  session: MessageSquare,
  memory: Brain,
};

"""One display as HTML that carries all it needs: the text, the page's module and the record, and no address to fetch.

The module and the record travel deflated; a page without scripts, or a browser that cannot inflate, keeps the text.

Invariant: names and labels are text here, never markup, and the same record gives the same HTML (nbval compares it).
"""

from __future__ import annotations

import hashlib
import json
from html import escape

from . import bundles

# Two outputs of the same tensor have the same key, and each script takes a host of its own. Lab attaches an output
# after its scripts began. A built bundle unpacks itself once for a page, however many outputs carry it.
SCRIPT = """
(async()=>{
const key=%(key)s,code=%(code)s,data=%(data)s;
const bytes=text=>Uint8Array.from(atob(text),c=>c.charCodeAt(0));
const inflate=async text=>new Uint8Array(await new Response(new Blob([bytes(text)]).stream()
.pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer());
const find=()=>document.querySelector('[data-vistorch="'+key+'"]:not([data-shown])');
let host=find();
for(let i=0;!host&&i<300;i++){await new Promise(r=>setTimeout(r,16));host=find()}
if(host){host.dataset.shown='';
try{
const url=URL.createObjectURL(new Blob([await inflate(code)],{type:'text/javascript'}));
let page;try{page=(await import(url)).default}finally{URL.revokeObjectURL(url)}
const state={payload:await inflate(data),live:false,key:%(live)s};
const model={get:k=>state[k],set(k,v){state[k]=v},save_changes(){},send(){},on(){},off(){}};
const el=document.createElement('div');
await page.render({model,el,signal:new AbortController().signal});
host.append(el);
if(el.dataset.failed)throw el.dataset.failed;
host.querySelectorAll('.vistorch-off').forEach(off=>off.remove());
}catch(error){host.dataset.failed=String(error);console.warn('vistorch: the page could not be shown:',error)}}
})()
"""
# As the host prints text, in outputs whose own letters are larger or of another face.
# What is left out of sight casts a shadow at its edge; on a page whose paper is not known there is none.
PAPER = "var(--jp-layout-color0,var(--vt-paper))"
SHADE = "rgba(127,127,127,.4)"
PRINTED = (
    f"background:linear-gradient({PAPER} 40%,transparent) 0 0/100% 24px no-repeat local,"
    f"linear-gradient(transparent,{PAPER} 60%) 0 100%/100% 24px no-repeat local,"
    f"linear-gradient({SHADE},transparent) 0 0/100% 8px no-repeat,"
    f"linear-gradient(transparent,{SHADE}) 0 100%/100% 8px no-repeat;"
    "margin:0 0 4px;white-space:pre;overflow:auto;max-height:16em;"
    "font-family:var(--jp-code-font-family,ui-monospace,SF Mono,Menlo,Consolas,monospace);"
    "font-size:var(--jp-code-font-size,13px);line-height:1.3077"
)
OFF = "The picture needs a page that runs scripts."
DOCUMENT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>%(title)s</title>
<style>body{--vt-paper:#fff;margin:0 auto;max-width:1280px;padding:16px;font:13px/1.5 system-ui,sans-serif}
pre{overflow-x:auto}
@media(prefers-color-scheme:dark){body{--vt-paper:#14161b;background:#14161b;color:#e7eaf0}}</style></head>
<body>
%(body)s
</body></html>
"""


def _literal(text: str) -> str:
    # A script element ends at the first "</script", whatever stands around it; "<!--" begins a comment in one.
    return json.dumps(text).replace("<", "\\u003c")


def key_of(kind: str, payload: bytes) -> str:
    """What names one output's record and page: the same for the same record."""
    return hashlib.sha256(payload + bundles.packed(kind)[1].encode()).hexdigest()[:16]


def fragment(kind: str, payload: bytes, text: str = "", instead: str = "", live: bool = False) -> str:
    """The HTML of one output.

    Args:
        kind: which page shows it.
        payload: what `wire.pack` made.
        text: shown above the picture, as it is.
        instead: markup of the caller's own for readers without scripts.
        live: whether a view in the kernel may answer, which has the same key.
    """
    code, _ = bundles.packed(kind)
    data = bundles.deflated(payload)
    key = key_of(kind, payload)
    script = SCRIPT % {
        "key": _literal(key),
        "code": _literal(code),
        "data": _literal(data),
        "live": _literal(key if live else ""),
    }
    above = printed(text) if text else ""
    off = instead or f'<p class="vistorch-off" style="font-size:11px;margin:0">{OFF}</p>'
    return f'<div data-vistorch="{key}">{above}{off}</div><script type="module">{script}</script>'


def printed(text: str, name: str = "") -> str:
    """A text as the host prints it.

    Args:
        text: what it says.
        name: a class; "vistorch-off" is taken away when the page is there.
    """
    of = f' class="{name}"' if name else ""
    return f'<pre{of} style="{PRINTED}">{escape(text, quote=False)}</pre>'


def document(title: str, body: str) -> str:
    """A whole file around one output."""
    return DOCUMENT % {"title": escape(title), "body": body}

"""The last state of a run as it stays in the notebook, below the live panel.

Invariant: it is out of sight while a panel (`.vt-watch`) stands above it in its output, and in sight where none does.
"""

from __future__ import annotations

from .display import Display


class Kept(Display):
    """The last state of a run, as it stays in the notebook: out of sight while the live panel stands above it."""

    def _html(self, live: bool = False) -> str:
        return KEPT % {"page": super()._html(live)}


# Its cell shows the live panel until the notebook is opened again: Jupyter then says in its place that there is no
# widget, and this page has all there is. Scripts of an output run before it is attached.
KEPT = """<div class="vistorch-kept">%(page)s</div><script>
(()=>{let tries=0;
const begin=own=>{
own.dataset.seen='';
const child=own.closest('.jp-OutputArea-child'),area=child&&child.parentElement;
if(!area)return;
const look=()=>{
let live=false;
for(const one of area.children){
if(one===child)break;
if([...one.querySelectorAll('.vt-watch')].some(panel=>!panel.closest('.vistorch-kept')))live=true;
const gone=one.querySelector('.jupyter-widgets')&&/^(Loading|Error displaying) widget/.test(one.textContent.trim());
if(gone||one.dataset.vistorchGone)one.style.display=gone?'none':'';
if(gone)one.dataset.vistorchGone='1'}
child.style.display=live?'none':''};
look();
new MutationObserver(look).observe(area,{childList:true,subtree:true,characterData:true})};
const wait=()=>{
const found=[...document.querySelectorAll('.vistorch-kept:not([data-seen])')];
if(found.length)found.forEach(begin);
else if(tries++<300)requestAnimationFrame(wait)};
wait()})()
</script>"""

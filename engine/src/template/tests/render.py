"""render.py: writes what Jinja2 3.1 makes of each case of conversation.json into it, as its `rendered` or `refused`."""
import os,json,datetime
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.ext import loopcontrols
import jinja2
def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
def raise_exception(m): raise jinja2.exceptions.TemplateError(m)
e=ImmutableSandboxedEnvironment(trim_blocks=True,lstrip_blocks=True,extensions=[loopcontrols])
e.filters['tojson']=tojson; e.globals['raise_exception']=raise_exception
e.globals['strftime_now']=lambda f: datetime.datetime(2026,12,1,13,45).strftime(f)
D=os.path.join(os.path.dirname(os.path.abspath(__file__)),'')
msgs=json.load(open(D+'conversation.json'))
out={}
for c in msgs['cases']:
    src=open(D+c['template']).read()
    kw=dict(bos_token='<s>',eos_token='</s>',tools=None,documents=None); kw.update(c.get('variables',{}))
    try: c['rendered']=e.from_string(src).render(messages=c['messages'],add_generation_prompt=c['add_generation_prompt'],**kw)
    except jinja2.exceptions.TemplateError as x: c['refused']=str(x)
json.dump(msgs,open(D+'conversation.json','w'),ensure_ascii=False,indent=1)

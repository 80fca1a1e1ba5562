-- The program that scripts/quickstart measures: a table of 300,000 rows made, indexed and queried in memory.
-- Sized so that sqlite3 makes about a million calls of the malloc family: three quarters while inserting (the text of a
-- row is made and dropped), the rest in the sorters, the group-by and the page cache of the queries.
.print "==> sqlite3 says:"
create table visit(id integer primary key, person integer not null, page text not null, ms integer not null, note text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)
insert into visit
select i, i * 7919 % 20011, substr('alphabetagammadeltaepsilonzetaetatheta', i % 31 + 1, 7), i * 104729 % 1009,
       case when i % 6 = 0 then printf('visit %d, referred by person %d', i, i * 31 % 20011) end
from n;
create index visit_person on visit(person);
create index visit_page on visit(page, ms);
select count(*), count(distinct person), count(note), sum(ms) from visit;
select page, count(*) as visits, avg(ms) from visit group by page order by visits desc, page limit 3;
select length(group_concat(upper(note), '; ')) from visit where note is not null;
select a.person, count(*) from visit a join visit b on b.person = a.person and b.id > a.id group by a.person order by 2 desc, 1 limit 3;

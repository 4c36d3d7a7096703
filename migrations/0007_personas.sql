-- As whom the model is asked to work, by name; what that says is looked up when a turn begins.
alter table tasks add column persona text;
alter table queued_messages add column persona text;

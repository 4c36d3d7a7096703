pub struct Report;

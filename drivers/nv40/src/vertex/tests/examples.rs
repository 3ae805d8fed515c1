//! Small programs and their listings.

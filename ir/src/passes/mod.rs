//! Passes: each a file with one public function that takes the shader, returns whether it changed anything, and opens with what it does.

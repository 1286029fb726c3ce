// Before the first paint: the theme that was chosen here, else that of the system.
const theme = localStorage.getItem("theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;

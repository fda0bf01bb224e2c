/** What the API answers. Answers may have more fields than these. */
export {};
